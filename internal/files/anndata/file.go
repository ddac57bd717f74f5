// Package anndata reads the files of single cells that anndata (.h5ad) and mudata (.h5mu)
// write. They are HDF5 files of a fixed layout:
//
//	X, layers/NAME, raw/X   a row for each cell and a column for each gene; dense, or
//	                        sparse by rows (CSR) or by columns (CSC)
//	obsm/NAME               a row for each cell: a matrix, or a table whose columns of
//	                        numbers are one
//	obs/NAME                a value for each cell: numbers, text, logical values,
//	                        categories, and those that may be missing
//	mod/NAME/...            the same of a modality, in .h5mu
//	obsmap/NAME             which row of the modality each cell of the file is, from 1, or 0
//
// All of these are listed as arrays under their paths, and nothing else.
package anndata

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/words"
)

const (
	maxArrays = 1 << 16        // that a file may list
	maxLen    = int64(1) << 48 // values of a matrix
	rewrite   = "read it with anndata and write it again in a plain form"
)

// File is an open file. Its methods are not safe for concurrent use.
type File struct {
	h       *hdf5.File
	infos   []array.Info
	entries []entry
	// parts are the file itself and, of .h5mu, its modalities.
	parts  []*part
	apart  bool // whether the modalities are of different cells
	obsmap map[string]uint64
}

// part is a file of one modality, or a modality.
type part struct {
	name, path string // both empty for the file itself
	members    map[string]uint64
	obs        *frame
	ids        []string // once they have been asked for
}

// entry is what stands behind an array.
type entry struct {
	part   *part
	matrix matrix // of X, layers, raw/X and obsm
	column column // of obs
	err    error  // why it cannot be read
}

// Open lists the arrays of the file r of size bytes. Values are read from r when they are
// asked for. What cannot be read is an error when it is asked for, except the index of obs.
func Open(r io.ReaderAt, size int64) (*File, error) {
	at := hdf5.Find(r, size)
	if at < 0 {
		return nil, errors.New("is no HDF5 file, as .h5ad and .h5mu files are; fetch or save it again")
	}
	h, err := hdf5.Open(r, at, size)
	if err != nil {
		return nil, plain(err)
	}
	f := &File{h: h}
	root, err := h.Root()
	if err != nil {
		return nil, plain(err)
	}
	members, err := f.members(root)
	if err != nil {
		return nil, plain(err)
	}
	if err := f.addPart("", "", members); err != nil {
		return nil, plain(err)
	}
	if mod, is := members["mod"]; is {
		if err := f.addModalities(mod, members); err != nil {
			return nil, plain(err)
		}
		axis, err := f.number(root, "axis")
		if err != nil {
			return nil, plain(err)
		}
		f.apart = axis == 1
	}
	return f, nil
}

// plain adds the remedy to the error of what is not read.
func plain(err error) error {
	if bad, ok := errors.AsType[*hdf5.Unsupported](err); ok {
		return fmt.Errorf("%w; %s", bad, rewrite)
	}
	return err
}

// members returns the addresses of the members of a group by their names.
func (f *File) members(o *hdf5.Object) (map[string]uint64, error) {
	links, err := f.h.Members(o)
	if err != nil {
		return nil, err
	}
	all := make(map[string]uint64, len(links))
	for _, l := range links {
		all[l.Name] = l.Address
	}
	return all, nil
}

// number returns the number in an attribute, or 0 if there is none.
func (f *File) number(o *hdf5.Object, name string) (int64, error) {
	a, err := f.h.Attribute(o, name)
	if err != nil || a == nil {
		return 0, err
	}
	values, err := f.int64s(a)
	if err != nil || len(values) == 0 {
		return 0, err
	}
	return values[0], nil
}

// word returns the text of an attribute, or "" if there is none.
func (f *File) word(o *hdf5.Object, name string) (string, error) {
	text, err := f.h.Text(o, name)
	return strings.Join(text, ""), err
}

// addModalities adds the modalities in the group at mod in the order that the file gives.
func (f *File) addModalities(mod uint64, members map[string]uint64) error {
	group, err := f.h.Object(mod)
	if err != nil {
		return err
	}
	inside, err := f.members(group)
	if err != nil {
		return err
	}
	order, err := f.h.Text(group, "mod-order")
	if err != nil {
		return err
	}
	names := sorted(inside)
	slices.SortStableFunc(names, func(a, b string) int { return place(order, a) - place(order, b) })
	for _, name := range names {
		o, err := f.h.Object(inside[name])
		if err != nil {
			return fmt.Errorf("mod/%s %w", name, err)
		}
		within, err := f.members(o)
		if err != nil {
			return fmt.Errorf("mod/%s %w", name, err)
		}
		if err := f.addPart(name, "mod/"+name+"/", within); err != nil {
			return err
		}
	}
	at, is := members["obsmap"]
	if !is {
		return nil
	}
	o, err := f.h.Object(at)
	if err != nil {
		return fmt.Errorf("obsmap %w", err)
	}
	f.obsmap, err = f.members(o)
	return err
}

// place returns the place of a name in a list, or the end of the list.
func place(list []string, name string) int {
	if k := slices.Index(list, name); k >= 0 {
		return k
	}
	return len(list)
}

func sorted(members map[string]uint64) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// addPart lists the arrays of a group of the given members.
func (f *File) addPart(name, path string, members map[string]uint64) error {
	p := &part{name: name, path: path, members: members}
	at, is := members["obs"]
	if !is {
		return fmt.Errorf("holds no %sobs, and so is no file of cells; save it with anndata or mudata", path)
	}
	obs, err := f.h.Object(at)
	if err != nil {
		return fmt.Errorf("%sobs %w", path, err)
	}
	if !obs.Group {
		return fmt.Errorf("holds %sobs as a table of records, as anndata before version 0.7 wrote it; read it with a newer anndata and write it again", path)
	}
	if p.obs, err = f.frame(obs); err != nil {
		return fmt.Errorf("%sobs %w", path, err)
	}
	f.parts = append(f.parts, p)
	if err := f.addMatrix(p, "X", members["X"]); err != nil {
		return err
	}
	for _, group := range []string{"layers", "obsm", "raw"} {
		if err := f.addGroup(p, group, members[group]); err != nil {
			return err
		}
	}
	for _, name := range p.obs.columns {
		c := f.column(p.obs, name)
		if err := f.add(path+"obs/"+name, array.Info{Shape: []int{c.n}, Kind: c.kind}, entry{part: p, column: c, err: c.err}); err != nil {
			return err
		}
	}
	return nil
}

// addGroup lists the matrices in a group of a part, of raw only its X.
func (f *File) addGroup(p *part, group string, at uint64) error {
	if at == 0 {
		return nil
	}
	o, err := f.h.Object(at)
	if err != nil || !o.Group {
		return f.add(p.path+group, array.Info{}, entry{part: p, err: orElse(err, "is no group")})
	}
	inside, err := f.members(o)
	if err != nil {
		return fmt.Errorf("%s%s %w", p.path, group, err)
	}
	for _, name := range sorted(inside) {
		if group != "raw" || name == "X" {
			if err := f.addMatrix(p, group+"/"+name, inside[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func orElse(err error, problem string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s; %s", problem, rewrite)
}

// addMatrix lists the matrix at an address, if there is one.
func (f *File) addMatrix(p *part, name string, at uint64) error {
	if at == 0 {
		return nil
	}
	m, err := f.matrix(at)
	e := entry{part: p, matrix: m, err: err}
	if err != nil {
		return f.add(p.path+name, array.Info{}, e)
	}
	return f.add(p.path+name, array.Info{Shape: m.shape(), Kind: m.kind()}, e)
}

func (f *File) add(name string, info array.Info, e entry) error {
	if len(f.infos) == maxArrays {
		return fmt.Errorf("holds more than %d matrices and columns; leave out those that are not needed", maxArrays)
	}
	info.Name = name
	f.infos, f.entries = append(f.infos, info), append(f.entries, e)
	return nil
}

// Arrays lists the arrays of the file. An array that cannot be read has no shape.
func (f *File) Arrays() []array.Info { return f.infos }

// find returns the place of the array with a name, or -1.
func (f *File) find(name string) int {
	return slices.IndexFunc(f.infos, func(i array.Info) bool { return i.Name == name })
}

// isMatrix reports whether array i is a matrix with a row for each cell.
func (f *File) isMatrix(i int) bool { return f.entries[i].matrix != nil }

// isMark reports whether matrix i holds logical values, as those in obsm of .h5mu files do
// that say which cells a modality has.
func (f *File) isMark(i int) bool {
	d, is := f.entries[i].matrix.(dense)
	return is && d.Type.Bool
}

// main returns the view that a part is: its principal components, or else X; or -1.
func (f *File) main(p *part) int {
	for _, name := range []string{"obsm/X_pca", "X"} {
		if i := f.find(p.path + name); i >= 0 {
			return i
		}
	}
	return -1
}

// Views returns the arrays that are views without being named, one for each modality, and the
// names of the other matrices.
func (f *File) Views() (views []int, passed []string, err error) {
	if f.apart {
		return nil, nil, errors.New("holds modalities of different cells (its axis is 1), which are no views of the same samples; name one by FILE:MODALITY")
	}
	for _, p := range f.modalities() {
		if i := f.main(p); i >= 0 {
			views = append(views, i)
		} else {
			passed = append(passed, p.path+"obs")
		}
	}
	for i, info := range f.infos {
		if f.isMatrix(i) && !slices.Contains(views, i) && !f.isMark(i) {
			passed = append(passed, info.Name)
		}
	}
	if len(views) == 0 {
		return nil, nil, fmt.Errorf("holds neither obsm/X_pca nor X%s; name a matrix by FILE:NAME", f.matrices())
	}
	return views, passed, nil
}

// modalities are the parts that are views.
func (f *File) modalities() []*part {
	if len(f.parts) > 1 {
		return f.parts[1:]
	}
	return f.parts
}

// View returns the array that a name stands for: a modality, a path, a path without mod, or a
// name in obsm.
func (f *File) View(name string) (int, error) {
	for _, p := range f.modalities() {
		if p.name != "" && p.name == name {
			if i := f.main(p); i >= 0 {
				return i, nil
			}
			return 0, fmt.Errorf("holds neither %sobsm/X_pca nor %sX%s; name a matrix by FILE:NAME", p.path, p.path, f.matrices())
		}
	}
	for _, path := range []string{name, "mod/" + name, "obsm/" + name} {
		if i := f.find(path); i >= 0 && f.entries[i].column.n == 0 {
			return i, f.wrong(i)
		}
	}
	return 0, fmt.Errorf("holds no matrix %s%s; name one of these", words.Quote(name), f.matrices())
}

// matrices returns words for the names of the matrices that there are.
func (f *File) matrices() string {
	var names []string
	for i, info := range f.infos {
		if f.isMatrix(i) {
			names = append(names, info.Name)
		}
	}
	if len(names) == 0 {
		return " nor any other matrix"
	}
	return ", only " + words.List(names)
}

// wrong returns the error for array i if it cannot be read.
func (f *File) wrong(i int) error {
	if err := f.entries[i].err; err != nil {
		return fmt.Errorf("%s %w", f.infos[i].Name, plain(err))
	}
	return nil
}

// Column returns the array that a column of obs is: one of the file, of a modality as
// MODALITY:COLUMN or by its path, or of the only modality that has it.
func (f *File) Column(name string) (int, error) {
	paths := []string{name, "obs/" + name}
	if modality, column, is := strings.Cut(name, ":"); is {
		paths = append(paths, "mod/"+modality+"/obs/"+column)
	}
	for _, path := range paths {
		if i := f.find(path); i >= 0 && !f.isMatrix(i) {
			return i, nil
		}
	}
	found := -1
	for _, p := range f.parts[1:] {
		if i := f.find(p.path + "obs/" + name); i >= 0 {
			if found >= 0 {
				return 0, fmt.Errorf("has a column %s in obs of several modalities; name one of them by FILE:MODALITY:COLUMN", words.Quote(name))
			}
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("has no column %s in obs, only %s; name one of these", words.Quote(name), words.List(f.Columns()))
	}
	return found, nil
}

// Columns returns the names of all columns of obs as Column takes them.
func (f *File) Columns() []string {
	var names []string
	for _, p := range f.parts {
		for _, c := range p.obs.columns {
			if p.name != "" {
				c = p.name + ":" + c
			}
			names = append(names, c)
		}
	}
	return names
}

// IDs returns the names of the cells that are the rows of array i.
func (f *File) IDs(i int) ([]string, error) { return f.cells(f.entries[i].part) }

// All returns the names of all cells of the file.
func (f *File) All() ([]string, error) { return f.cells(f.parts[0]) }

// cells returns the names of the cells of a part.
func (f *File) cells(p *part) (ids []string, err error) {
	if p.ids != nil {
		return p.ids, nil
	}
	f.h.Renew()
	if at, is := f.obsmap[p.name]; is && p.name != "" {
		p.ids, err = f.mapped(p, at)
	} else if c := f.column(p.obs, p.obs.index); c.err != nil {
		err = fmt.Errorf("%sobs/%s %w", p.path, p.obs.index, plain(c.err))
	} else if p.ids, err = f.text(c); err != nil {
		err = fmt.Errorf("%sobs/%s %w", p.path, p.obs.index, plain(err))
	}
	return p.ids, err
}

// mapped returns the names of the cells of a modality by the list of its rows at an address.
func (f *File) mapped(p *part, at uint64) ([]string, error) {
	o, err := f.h.Object(at)
	if err != nil {
		return nil, fmt.Errorf("obsmap/%s %w", p.name, plain(err))
	}
	rows, err := f.int64s(o)
	if err != nil {
		return nil, fmt.Errorf("obsmap/%s %w", p.name, plain(err))
	}
	all, err := f.All()
	if err != nil {
		return nil, err
	}
	if len(rows) != len(all) {
		return nil, fmt.Errorf("obsmap/%s has %s for %s; write the file again with mudata", p.name, words.Count(len(rows), "row"), words.Count(len(all), "cell"))
	}
	n := 0
	for _, row := range rows {
		if row != 0 {
			n++
		}
	}
	ids, taken := make([]string, n), make([]bool, n)
	for cell, row := range rows {
		switch {
		case row == 0:
		case row < 0 || row > int64(n) || taken[row-1]:
			return nil, fmt.Errorf("obsmap/%s has %d for cell %d (counted from 0), where each row from 1 to %d comes once; write the file again with mudata", p.name, row, cell, n)
		default:
			ids[row-1], taken[row-1] = all[cell], true
		}
	}
	return ids, nil
}
