package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // a format of pictures
	"image/jpeg"
	"image/png"
	"slices"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format of pictures
)

// Pictures supplies the pictures of samples. It calls take once for each of them, in any
// order, with the bytes of a JPEG, PNG, WebP or GIF file, or with the reason why there is
// none. If it returns an error, so does New.
type Pictures func(ctx context.Context, samples []int, take func(sample int, file []byte, problem error)) error

const (
	// side is the largest width and height of a small picture, in pixels.
	side = 72
	// mostThumbs and mostThumbBytes bound the pictures on a page.
	mostThumbs     = 1500
	mostThumbBytes = 3 << 20
	// mostSide and mostPixels bound a picture that is decoded, as its first bytes tell its
	// size: a small file may hold a huge picture.
	mostSide   = 20_000
	mostPixels = 32 << 20
	// mostAllPixels and mostAllBytes bound all pictures that are decoded, and their files.
	mostAllPixels = 2 << 30
	mostAllBytes  = 1 << 30
	// MostPictureMemory is the most bytes that a picture takes by default.
	MostPictureMemory = 512 << 20
	// LeastPictureMemory is enough for a photo of four million pixels.
	LeastPictureMemory = 64 << 20
)

// pictureBudget is what is left for pictures.
type pictureBudget struct {
	memory        int64 // of each
	pixels, bytes int64 // of all
}

var errBudget = fmt.Errorf("the pictures before it took all of the budget, %d million pixels or %d MiB of files; give smaller pictures", mostAllPixels>>20, mostAllBytes>>20)

// illustrate embeds pictures of the samples on the page, one at a time, each in so much
// memory. A picture that cannot be shown is noted.
func (r *Report) illustrate(ctx context.Context, pictures Pictures, memory int64) error {
	if memory <= 0 {
		memory = MostPictureMemory
	}
	left := &pictureBudget{memory, mostAllPixels, mostAllBytes}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	wanted := r.wanted()
	found, total, missing := map[int]string{}, 0, 0
	var first error
	place := make(map[int]int, len(wanted))
	for k, i := range wanted {
		place[i] = k
	}
	told := make(map[int]bool, len(wanted))
	err := pictures(asking, wanted, func(sample int, file []byte, problem error) {
		if _, asked := place[sample]; !asked || told[sample] || asking.Err() != nil {
			return
		}
		uri := ""
		if problem == nil {
			uri, problem = left.shrink(file)
		}
		if errors.Is(problem, errBudget) {
			stop() // no more files are read
			return
		}
		told[sample] = true
		if problem != nil {
			// The first of wanted, so that the note does not depend on the order of arrival.
			if missing++; first == nil || place[sample] < place[r.blamed] {
				first, r.blamed = problem, sample
			}
			return
		}
		found[sample] = uri
	})
	if ctx.Err() == nil && asking.Err() != nil {
		err = nil // the budget is spent
		for _, i := range wanted {
			if told[i] {
				continue
			}
			if missing++; first == nil || place[i] < place[r.blamed] {
				first, r.blamed = errBudget, i
			}
		}
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	for _, i := range wanted {
		if total += len(found[i]); total > mostThumbBytes {
			delete(found, i)
		}
	}
	r.thumbs = found
	if missing > 0 {
		r.Notes = append(slices.Clip(r.Notes), fmt.Sprintf("%d of %d pictures cannot be shown, and the ids stand in for them; the first is that of %s: %v", missing, len(wanted), r.id(r.blamed), first))
	}
	return nil
}

// wanted returns the samples whose pictures are shown: the listed members of the clusters,
// the first of each before the second of each, and then samples on the map.
func (r *Report) wanted() []int {
	var out []int
	seen := map[int]bool{}
	add := func(i int) {
		if !seen[i] && len(out) < mostThumbs {
			seen[i] = true
			out = append(out, i)
		}
	}
	for k := 0; ; k++ {
		more := false
		for _, c := range r.Clusters {
			if k < len(c.Central) {
				add(c.Central[k])
				more = true
			}
			if k < len(c.Uncertain) {
				add(c.Uncertain[k])
			}
		}
		if !more {
			break
		}
	}
	// Evenly spaced, since consecutive samples may be alike.
	n := len(r.Map.Samples)
	step := max(1, n/max(1, mostThumbs-len(out)))
	for k := 0; k < n; k += step {
		add(r.Map.Samples[k])
	}
	return out
}

// shrink scales a picture down and returns it as a data URI. It looks at the size that the
// picture's first bytes tell before it decodes it.
func (p *pictureBudget) shrink(file []byte) (string, error) {
	if p.bytes -= int64(len(file)); p.bytes < 0 {
		return "", errBudget
	}
	conf, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return "", fmt.Errorf("it is no picture in the format JPEG, PNG, WebP or GIF (%w)", err)
	}
	if conf.Width < 1 || conf.Height < 1 || conf.Width > mostSide || conf.Height > mostSide || conf.Width*conf.Height > mostPixels {
		return "", fmt.Errorf("it has %d x %d pixels; give one of at most %d in all", conf.Width, conf.Height, mostPixels)
	}
	if need := int64(len(file)) + decodedBytes(conf, kind); need > p.memory {
		return "", fmt.Errorf("it has %d x %d pixels, which take %d MiB of memory where there are %d MiB for a picture; make it smaller, or allow more memory", conf.Width, conf.Height, (need+1<<20-1)>>20, p.memory>>20)
	}
	if p.pixels -= int64(conf.Width) * int64(conf.Height); p.pixels < 0 {
		return "", errBudget
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return "", fmt.Errorf("it is damaged (%w)", err)
	}
	b := picture.Bounds()
	scale := min(1, float64(side)/float64(max(b.Dx(), b.Dy())))
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))))
	draw.BiLinear.Scale(small, small.Bounds(), picture, b, draw.Src, nil)
	var out bytes.Buffer
	kind = "jpeg"
	if small.Opaque() {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: 75})
	} else {
		kind = "png"
		err = png.Encode(&out, small)
	}
	if err != nil {
		return "", err
	}
	return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// decodedBytes bounds the bytes that decoding a picture and making it small takes.
func decodedBytes(conf image.Config, kind string) int64 {
	each := 8 // bytes of a pixel
	switch kind {
	case "png": // twice where it is interlaced
		each = 16
		switch m := conf.ColorModel.(type) {
		case color.Palette:
			each = 2
		default:
			if m == color.GrayModel || m == color.RGBAModel || m == color.NRGBAModel { // 8 bits a value
				each = 8
			}
		}
	case "jpeg": // a progressive one keeps 4 bytes of coefficients for each value
		each = 15
		switch conf.ColorModel {
		case color.GrayModel:
			each = 5
		case color.CMYKModel:
			each = 20
		}
	}
	const row = 32 * side // of the rows that are narrow already and not yet low
	return int64(conf.Width)*int64(conf.Height)*int64(each) + row*int64(conf.Height) + 1<<20
}
