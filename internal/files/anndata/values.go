package anndata

import (
	"errors"
	"fmt"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// get returns what extract makes of array i. Its errors start with the array's name and,
// where a value is at fault, its place counted from 0.
func get[T any](f *File, i int, extract func(e *entry) ([]T, error)) ([]T, error) {
	if i < 0 || i >= len(f.infos) {
		return nil, fmt.Errorf("there is no array %d; the file holds %s", i, words.Count(len(f.infos), "array"))
	}
	if err := f.wrong(i); err != nil {
		return nil, err
	}
	f.h.Renew()
	out, err := extract(&f.entries[i])
	name, shape := f.infos[i].Name, f.infos[i].Shape
	if bad, ok := errors.AsType[*array.ValueError](err); ok {
		if len(shape) == 2 && len(out) == 0 && f.isDense(i) {
			return nil, fmt.Errorf("%s: column %d of row %d (both counted from 0) %w", name, bad.At%shape[1], bad.At/shape[1], bad)
		}
		return nil, fmt.Errorf("%s: value %d (counted from 0) %w", name, bad.At, bad)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, plain(err))
	}
	return out, nil
}

func (f *File) isDense(i int) bool {
	_, is := f.entries[i].matrix.(dense)
	return is
}

// Float32 returns the values of array i row after row. A missing value of a column is NaN.
func (f *File) Float32(i int) ([]float32, error) {
	return get(f, i, func(e *entry) ([]float32, error) {
		switch {
		case e.matrix != nil:
			return e.matrix.float32s(f)
		case !e.column.isNumeric():
			return nil, errors.New("holds text where numbers are needed; name another column")
		}
		return f.float32s(e.column)
	})
}

// Turned returns the values of matrix i column after column.
func (f *File) Turned(i int) ([]float32, error) {
	values, err := f.Float32(i)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(values))
	f.infos[i].Turn(out, 0, values)
	return out, nil
}

// Scratch returns how many bytes reading matrix i takes at most beside its values.
func (f *File) Scratch(i int) int64 {
	if m := f.entries[i].matrix; m != nil {
		return m.scratch()
	}
	return 0
}

// Int64 returns the values of array i, a dense matrix or a column without missing values.
func (f *File) Int64(i int) ([]int64, error) {
	return get(f, i, func(e *entry) ([]int64, error) {
		if d, is := e.matrix.(dense); is {
			return f.int64s(d.Object)
		}
		if e.matrix != nil || !e.column.isNumeric() {
			return nil, errors.New("does not hold whole numbers one by one; name another column")
		}
		mask, err := f.missing(e.column)
		if err != nil {
			return nil, err
		}
		for row, missing := range mask {
			if missing != 0 {
				return nil, fmt.Errorf("lacks a value in row %d (counted from 0); give every sample one", row)
			}
		}
		return f.int64s(e.column.values)
	})
}

// Text returns the values of array i, a column or a dense matrix, as text: categories by their
// names, "" where a value is missing.
func (f *File) Text(i int) ([]string, error) {
	return get(f, i, func(e *entry) ([]string, error) {
		if d, is := e.matrix.(dense); is {
			return f.strings(d.Object)
		}
		if e.matrix != nil {
			return nil, errors.New("is a matrix; name a column")
		}
		return f.text(e.column)
	})
}
