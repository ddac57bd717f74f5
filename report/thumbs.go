package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // a format of pictures
	"image/jpeg"
	"image/png"
	"slices"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format of pictures
)

// Pictures calls take for each of samples with the bytes of its picture, a file in the
// format JPEG, PNG, WebP or GIF, or with why there is none, in any order. Its own error
// ends the report.
type Pictures func(ctx context.Context, samples []int, take func(sample int, file []byte, problem error)) error

const (
	// side is the most pixels of a side of a small picture.
	side = 72
	// mostThumbs and mostThumbBytes bound the small pictures of a page.
	mostThumbs     = 1500
	mostThumbBytes = 3 << 20
	// mostSide and mostPixels bound the pictures that are taken apart: a small file may
	// claim to hold a large one.
	mostSide   = 20_000
	mostPixels = 50 << 20
)

// illustrate embeds small pictures of the samples that are shown, those that matter most
// first. A picture that cannot be had is noted.
func (r *Report) illustrate(ctx context.Context, pictures Pictures) error {
	wanted := r.wanted()
	found, total, missing := map[int]string{}, 0, 0
	var first error
	place := make(map[int]int, len(wanted))
	for k, i := range wanted {
		place[i] = k
	}
	err := pictures(ctx, wanted, func(sample int, file []byte, problem error) {
		if _, asked := place[sample]; !asked || found[sample] != "" || ctx.Err() != nil {
			return
		}
		uri := ""
		if problem == nil {
			uri, problem = shrink(file)
		}
		if problem != nil {
			// The first by rank, so that it does not depend on the order they come in.
			if missing++; first == nil || place[sample] < place[r.blamed] {
				first, r.blamed = problem, sample
			}
			return
		}
		found[sample] = uri
	})
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
// the first ones of each before the second ones, and then what else is on the map.
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
	// Evenly spaced, as samples that follow each other may be alike.
	n := len(r.Map.Samples)
	step := max(1, n/max(1, mostThumbs-len(out)))
	for k := 0; k < n; k += step {
		add(r.Map.Samples[k])
	}
	return out
}

// shrink returns a small picture as a data URI.
func shrink(file []byte) (string, error) {
	conf, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return "", fmt.Errorf("it is no picture in the format JPEG, PNG, WebP or GIF (%w)", err)
	}
	if conf.Width < 1 || conf.Height < 1 || conf.Width > mostSide || conf.Height > mostSide || conf.Width*conf.Height > mostPixels {
		return "", fmt.Errorf("it has %d x %d pixels; give one of at most %d in all", conf.Width, conf.Height, mostPixels)
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
	kind := "jpeg"
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
