package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/review"
	"github.com/mvclust/mvclust/internal/words"
)

type reviewOptions struct {
	folder     string
	port       port
	show       string
	thumbs     string
	thumbsRoot string
	quiet      bool
}

// port is the value of --port.
type port int

func (p *port) String() string {
	if *p == 0 {
		return "" // a free one
	}
	return strconv.Itoa(int(*p))
}

func (p *port) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return errors.New("not a number from 1 to 65535")
	}
	*p = port(n)
	return nil
}

const portType = "port"

func (p *port) Type() string { return portType }

func newReviewCommand() *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use:   "review [flags] OUT",
		Short: "Answer on a local page what the clustering leaves open",
		Long: `review prints the address of a page that your own machine serves until Ctrl-C. On it,
you are asked about pairs of samples: do they belong together? The most valuable
questions come first, as "mvclust suggest" orders them, and the clusters follow your
answers at once. You can also join, split and name whole clusters, and step through the
levels that "mvclust levels" lists; answers hold at all of them.

OUT is a folder that "mvclust fit" has written. Into it go

  review.csv     your answers, one a line, before the next question is asked: two ids,
                 same, different or skip, and what the question was about; or a step to
                 another level. A review that is started again goes on from there.
  names.csv      id,name: names of clusters, by a typical sample of each.

"Apply" on the page writes labels.csv, model.mvclust, run.json and report.html anew,
with the clusters as your answers have left them.

The page shows the pictures of --thumbs, or the columns of --show, or both. It listens
to this machine alone, and answers nobody who does not know the token in its address.`,
		Example: `  mvclust review mvclust-out --thumbs photos
  mvclust review mvclust-out --show products.csv --port 8642`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "%d folders are given; name exactly one that \"mvclust fit\" has written", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return reviewFunc(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.thumbs, "thumbs", "", "`PICTURES` of the samples: a folder of files called ID.jpg, .png, .webp or .gif, or FILE:COLUMN of a table with the pictures or their paths")
	f.StringVar(&o.thumbsRoot, "thumbs-root", "", "`DIR` that holds the pictures whose paths a table of --thumbs gives; none outside it is read (default the folder of the table)")
	f.StringVar(&o.show, "show", "", "`FILE` of a table whose columns are shown, with a row per sample; joined by ids where both have them")
	f.Var(&o.port, "port", "`NUMBER` of the port (default a free one)")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but the address")
	return cmd
}

// reviewFunc serves the page until ctx is done.
func reviewFunc(ctx context.Context, out io.Writer, o reviewOptions) error {
	if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder; name one that \"mvclust fit\" has written", o.folder)
	}
	m, path, err := openModel(ctx, o.folder)
	if err != nil {
		return err
	}
	if err := (&cutting{model: m}).readRun(&job{outputOptions: outputOptions{output: o.folder}, dir: &folder{path: o.folder}}); err != nil {
		return err
	}
	lock, err := lockReview(o.folder)
	if err != nil {
		return err
	}
	defer lock.release()
	defer onAbandon(ctx, func() error { lock.release(); return nil })()
	rewriter := &rewriter{folder: o.folder, model: path}
	opt, err := o.shown(ctx, m, rewriter)
	if rewriter.pictures != nil {
		defer rewriter.pictures.Close()
	}
	if err != nil {
		return err
	}
	if rewriter.before, err = os.Stat(path); err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	opt.Title, opt.Folder, opt.Apply = title(&dataset.Set{Views: modelRows(m)}), o.folder, rewriter.apply
	session, err := review.Open(ctx, m, opt)
	if err != nil {
		return err
	}
	server, err := review.NewServer(session, int(o.port))
	if err != nil {
		session.Close()
		return err
	}
	text := server.URL() + "\n"
	if !o.quiet {
		text = fmt.Sprintf("%s in %s\n\nopen %s\nanswers go to %s; stop with Ctrl-C\n", words.Count(m.Samples(), "sample"), words.Count(m.Clusters(), "cluster"), server.URL(), filepath.Join(o.folder, review.AnswersFile))
	}
	if _, err = io.WriteString(out, text); err != nil {
		server.Close()
		session.Close()
		return printing(err)
	}
	err = server.Serve(ctx)
	session.Close()
	if errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return nil // that is how a review ends
	}
	return err
}

// lockReview keeps a second review of a folder out.
func lockReview(folder string) (*folderLock, error) {
	lock, err := lockFile(filepath.Join(folder, ".mvclust.review.lock"))
	if errors.Is(err, errBusy) {
		return nil, fmt.Errorf("%s is being reviewed already; open the address that the other run has printed, or stop it", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be written: %w", folder, cause(err))
	}
	return lock, nil
}

// shown opens what the page shows of samples, and gives the pictures to w.
func (o *reviewOptions) shown(ctx context.Context, m *mvclust.Model, w *rewriter) (opt review.Options, err error) {
	if o.show != "" {
		rows, err := dataset.ReadRows(ctx, o.show, m.IDs, m.Samples())
		if err != nil {
			return opt, fmt.Errorf("--show %w", err)
		}
		opt.Columns, opt.Rows = rows.Columns, rows.Of
	}
	if o.thumbs == "" {
		if o.thumbsRoot != "" {
			err = errors.New("--thumbs-root: there is no --thumbs; give it too, or leave both out")
		}
		return opt, err
	}
	if w.pictures, err = dataset.OpenPictures(ctx, o.thumbs, o.thumbsRoot, m.IDs, m.Samples()); err != nil {
		return opt, fmt.Errorf("--thumbs %w", err)
	}
	opt.Pictures = w.pictures.Each
	return opt, nil
}

// modelRows returns the views of a model.
func modelRows(m *mvclust.Model) []*mvclust.View {
	views := make([]*mvclust.View, len(m.Views))
	for v := range m.Views {
		views[v] = m.Views[v].Rows
	}
	return views
}
