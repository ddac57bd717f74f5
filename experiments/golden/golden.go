// Package golden compares results byte for byte with those of before.
package golden

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// ErrDiffers says that a result is another than before.
var ErrDiffers = errors.New("results differ from those of before")

// Compare fits every .npz file of the folders by both presets, and holds the SHA-256 of each
// labels.csv, by "folder/set preset", against those in the file of digests, which write renews.
// It writes a line for each difference and a count.
func Compare(ctx context.Context, l *lab.Lab, folders []string, digests string, write bool, out io.Writer) error {
	kept := make(map[string]string)
	text, err := os.ReadFile(digests)
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil && !(write && errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("the digests %s cannot be read: %w", digests, err)
	}
	compared, differ := 0, 0
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.npz"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("--data: the folder %s holds no .npz files; name a folder of data sets", folder)
		}
		path, err := filepath.Abs(folder)
		if err != nil {
			return err
		}
		for _, file := range files {
			for _, preset := range []string{"auto", "paper"} {
				name := filepath.Base(path) + "/" + strings.TrimSuffix(filepath.Base(file), ".npz") + " " + preset
				got, err := Digest(ctx, l, file, preset)
				if err != nil {
					return err
				}
				compared++
				if was, there := kept[name]; was != got {
					differ++
					if !there {
						was = "not known"
					}
					if _, err := fmt.Fprintf(out, "%s: %s, was %s\n", name, got, was); err != nil {
						return err
					}
				}
				kept[name] = got
			}
		}
	}
	if _, err := fmt.Fprintf(out, "%d compared, %d differ\n", compared, differ); err != nil {
		return err
	}
	switch {
	case write:
		text, err := json.MarshalIndent(kept, "", "  ") // sorted by name
		if err != nil {
			return err
		}
		return lab.WriteFile(digests, append(text, '\n'))
	case differ > 0:
		return ErrDiffers
	}
	return nil
}

// Digest returns the SHA-256 of the labels.csv that "mvclust fit FILE --preset PRESET" writes.
// Where it refuses the file, that is the digest: "refused".
func Digest(ctx context.Context, l *lab.Lab, file, preset string) (string, error) {
	folder := filepath.Join(l.Scratch, "golden")
	defer func() { _ = os.RemoveAll(folder) }()
	_, err := l.Mvclust(ctx, "fit", file, "--preset", preset, "-o", folder, "--quiet")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "refused", nil //nolint:nilerr // that is what is compared
	}
	labels, err := os.ReadFile(filepath.Join(folder, "labels.csv"))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(labels)
	return hex.EncodeToString(sum[:]), nil
}
