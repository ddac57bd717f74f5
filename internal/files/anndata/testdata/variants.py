"""Writes files of single cells in many variants, with anndata and h5py, and beside each
what these libraries read of it, as JSON.

    variants.py FOLDER           writes the variants into a folder
    variants.py --expect FILE... writes FILE.json for files that are there
    variants.py --kept FOLDER    writes the small files that are kept in this folder
"""

import json
import sys
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sp

warnings.simplefilter("ignore")


def plain(values):
    """Numbers as float32, NaN as None; all else as text, missing as ''."""
    values = np.asarray(values)
    if values.dtype.kind in "fiu":
        return [None if np.isnan(x) else float(x) for x in values.astype("f4").ravel()]
    if values.dtype.kind == "b":
        return [str(bool(x)) for x in values.ravel()]
    return ["" if x is None or x is pd.NA or x != x else str(x) for x in values.ravel()]


def text(dataset):
    return np.array(dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()], dtype=object)


def column(group, name):
    """A column of a table, by h5py alone."""
    item = group[name]
    if isinstance(item, h5py.Group):
        if "codes" in item:
            codes, categories = item["codes"][()], item["categories"]
        else:
            values, mask = item["values"], item["mask"][()]
            if h5py.check_string_dtype(values.dtype):
                return np.where(mask, "", text(values))
            if values.dtype.kind == "b":
                return np.where(mask, "", values[()].astype(str))
            return np.where(mask, np.nan, values[()].astype("f8"))
    elif "__categories" in group and name in group["__categories"]:
        codes, categories = item[()], group["__categories"][name]
    elif h5py.check_string_dtype(item.dtype):
        return text(item)
    else:
        return item[()]
    names = [str(x) for x in (text(categories) if h5py.check_string_dtype(categories.dtype) else categories[()])]
    return np.array(["" if c < 0 else names[c] for c in codes], dtype=object)


def matrix(item):
    if isinstance(item, h5py.Dataset):
        return item[()]
    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    if kind.startswith(("csr", "csc")):
        shape = tuple(item.attrs["shape"] if "shape" in item.attrs else item.attrs["h5sparse_shape"])
        make = sp.csc_matrix if kind.startswith("csc") else sp.csr_matrix
        return make((item["data"][()], item["indices"][()], item["indptr"][()]), shape=shape).toarray()
    if kind == "dataframe":
        index = item.attrs["_index"]
        names = [n for n in item.attrs["column-order"] if n != index]
        columns = [column(item, n) for n in names]
        return np.column_stack([np.asarray(c, "f4") for c in columns if np.asarray(c).dtype.kind in "fiub"])
    return None


def expect_part(group, path, out):
    def add(name, values):
        if values is not None:
            shape = list(np.shape(values))
            out["arrays"][path + name] = {"shape": shape, "values": plain(np.asarray(values, "f4") if len(shape) == 2 else values)}

    for name in ("X", "raw/X"):
        if name in group:
            add(name, matrix(group[name]))
    for folder in ("layers", "obsm"):
        for name in group.get(folder, {}):
            add(folder + "/" + name, matrix(group[folder][name]))
    obs = group["obs"]
    index = obs.attrs["_index"]
    out["ids"][path] = plain(column(obs, index))
    for name in obs:
        if name not in (index, "__categories"):
            add("obs/" + name, column(obs, name))


def expect(path):
    out = {"arrays": {}, "ids": {}}
    with h5py.File(path, "r") as f:
        expect_part(f, "", out)
        for name in f.get("mod", {}):
            expect_part(f["mod"][name], "mod/" + name + "/", out)
        for name in f.get("obsmap", {}):
            out.setdefault("obsmap", {})[name] = [int(x) for x in f["obsmap"][name][()]]
    if path.endswith(".h5ad"):
        check_by_anndata(path, out)
    with open(path + ".json", "w") as f:
        json.dump(out, f)


def check_by_anndata(path, out):
    """anndata must read what h5py did."""
    try:
        data = anndata.read_h5ad(path)
    except Exception:  # a variant that this version does not know
        return
    assert [str(x) for x in data.obs_names] == out["ids"][""], path
    if data.X is not None:
        x = data.X.toarray() if sp.issparse(data.X) else np.asarray(data.X)
        assert plain(np.asarray(x, "f4")) == out["arrays"]["X"]["values"], path
    for name in data.obs:
        values = data.obs[name]
        if values.dtype.name == "category":
            assert ["" if x != x else str(x) for x in values] == out["arrays"]["obs/" + name]["values"], (path, name)


def made(rows=31, columns=17, seed=1):
    r = np.random.default_rng(seed)
    x = r.poisson(0.4, (rows, columns)).astype("f4") * r.random((rows, columns)).astype("f4")
    obs = pd.DataFrame(
        {
            "celltype": pd.Categorical.from_codes(r.integers(0, 3, rows), ["B cell", "T cell", "Zelle é"]),
            "gaps": pd.Categorical.from_codes(r.integers(-1, 2, rows), ["yes", "no"]),
            "batch": pd.Categorical.from_codes(r.integers(0, 2, rows), [10, 20]),
            "depth": r.integers(0, 1000, rows),
            "score": r.random(rows),
            "small": r.random(rows).astype("f4"),
            "good": r.random(rows) < 0.5,
            "note": ["n%d" % (i % 5) for i in range(rows)],
        },
        index=["cell-%03d" % i for i in range(rows)],
    )
    data = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=["g%d" % i for i in range(columns)]))
    data.strings_to_categoricals = lambda *_: None  # text stays text
    data.obsm["X_pca"] = r.normal(size=(rows, 6)).astype("f4")
    data.obsm["protein"] = pd.DataFrame(r.random((rows, 3)), index=obs.index, columns=["CD3", "CD4", "CD19"])
    data.layers["counts"] = sp.csr_matrix(x)
    data.raw = data
    return data


def rewrite(source, target, latest=False, user=0, change=None, **options):
    """Copies a file by h5py, each dataset with options of its own."""
    with h5py.File(source, "r") as a, h5py.File(
        target, "w", libver="latest" if latest else None, userblock_size=user, track_order=options.pop("track_order", False)
    ) as b:
        b.attrs.update(a.attrs)

        def copy(name, item):
            if isinstance(item, h5py.Group):
                b.require_group(name).attrs.update(item.attrs)
                return
            more = dict(options) if item.shape else {}
            if callable(more.get("chunks")):
                more["chunks"] = more["chunks"](item.shape)
            if "maxshape" in more:
                more["maxshape"] = more["maxshape"](item.shape)
            if item.dtype == object:
                more.pop("fletcher32", None)  # which HDF5 refuses for text of variable length
            data = item[()] if change is None else change(name, item[()])
            new = b.create_dataset(name, data=data, dtype=item.dtype if change is None else None, **more)
            for key, value in item.attrs.items():
                new.attrs[key] = value if not isinstance(value, h5py.Reference) else b[a[value].name].ref

        a.visititems(lambda n, i: copy(n, i) if "__categories" in n or isinstance(i, h5py.Group) else None)
        a.visititems(lambda n, i: copy(n, i) if "__categories" not in n and not isinstance(i, h5py.Group) else None)


def small(shape):
    return tuple(max(1, min(n, 5)) for n in shape)


def mudata(path, latest=False):
    """A file of two modalities of which some cells lack one, as mudata writes it."""
    from anndata.experimental import write_elem

    rna, protein = made(40, 12, 2)[:30].copy(), made(40, 8, 3)[8:].copy()
    del protein.obsm["X_pca"]
    protein = protein[np.random.default_rng(5).permutation(protein.n_obs)].copy()
    names = ["cell-%03d" % i for i in range(40)]
    with h5py.File(path, "w", userblock_size=512, libver="latest" if latest else None) as f:
        f.attrs.update({"encoding-type": "MuData", "encoding-version": "0.1.0", "axis": 0})
        obs = pd.DataFrame({"rna:celltype": made(40, 12, 2).obs["celltype"]}, index=names)
        write_elem(f, "obs", obs)
        mod = f.create_group("mod")
        for name, data in ("rna", rna), ("protein", protein):
            write_elem(f, "mod/" + name, data)
            rows = {cell: i + 1 for i, cell in enumerate(data.obs_names)}
            write_elem(f, "obsmap/" + name, np.array([rows.get(cell, 0) for cell in names], "u4"))
            write_elem(f, "obsm/" + name, np.array([cell in rows for cell in names]))
        write_elem(f, "obsm/X_joint", np.random.default_rng(4).normal(size=(40, 3)))
        mod.attrs["mod-order"] = ["rna", "protein"]
    with open(path, "r+b") as f:
        f.write(b"MuData (format-version=0.1.0;creator=test;creator-version=1)")


def write_all(folder):
    def out(name):
        paths.append(folder + "/" + name)
        return paths[-1]

    paths = []
    data = made()
    base = out("anndata.h5ad")
    data.write_h5ad(base)
    for name in "gzip", "lzf":
        data.write_h5ad(out(name + ".h5ad"), compression=name)
    for name in sp.csr_matrix, sp.csc_matrix:
        data.X = name(data.X)
        data.write_h5ad(out("x-%s.h5ad" % name.__name__))
        data.X = data.X.toarray()
    rewrite(base, out("chunks.h5ad"), chunks=small)
    rewrite(base, out("shuffle-lzf-fletcher.h5ad"), chunks=small, shuffle=True, compression="lzf", fletcher32=True)
    rewrite(base, out("gzip-fletcher.h5ad"), chunks=small, compression=9, fletcher32=True)
    rewrite(base, out("latest.h5ad"), latest=True)
    rewrite(base, out("latest-single.h5ad"), latest=True, chunks=lambda s: s)
    rewrite(base, out("latest-single-gzip.h5ad"), latest=True, chunks=lambda s: s, compression="gzip", shuffle=True)
    rewrite(base, out("latest-fixed.h5ad"), latest=True, chunks=small)
    rewrite(base, out("latest-fixed-gzip.h5ad"), latest=True, chunks=lambda s: (1,) * len(s), compression="gzip")
    rewrite(base, out("latest-extensible.h5ad"), latest=True, chunks=lambda s: (1,) * len(s), maxshape=lambda s: (None,) + s[1:])
    rewrite(base, out("latest-extensible-lzf.h5ad"), latest=True, chunks=small, compression="lzf", maxshape=lambda s: s[:-1] + (None,))
    rewrite(base, out("latest-tree.h5ad"), latest=True, chunks=lambda s: (2,) * len(s), maxshape=lambda s: (None,) * len(s))
    rewrite(base, out("latest-tree-gzip.h5ad"), latest=True, chunks=lambda s: (1,) * len(s), compression="gzip", maxshape=lambda s: (None,) * len(s))
    rewrite(base, out("user-block.h5ad"), user=1024)
    rewrite(base, out("latest-user-block.h5ad"), latest=True, user=512)
    rewrite(base, out("creation-order.h5ad"), track_order=True)
    rewrite(base, out("big-endian.h5ad"), change=lambda n, v: v.astype(v.dtype.newbyteorder(">")) if getattr(v, "dtype", np.dtype("O")).kind in "fi" else v)
    rewrite(base, out("half.h5ad"), change=lambda n, v: v.astype("f2") if n in ("X", "obsm/X_pca") else v)
    rewrite(base, out("fixed-text.h5ad"), change=lambda n, v: np.array(v, "S") if getattr(v, "dtype", None) == object and n.endswith(("_index", "note")) else v)
    large(base, out("large.h5ad"), None)
    large(base, out("latest-large.h5ad"), "latest")
    compact(base, out("compact.h5ad"), None)
    compact(base, out("latest-compact.h5ad"), "latest")
    nullable(base, out("nullable.h5ad"))
    before08(base, out("categories-before-0.8.h5ad"))
    many_chunks(base, out("latest-pages.h5ad"))
    mudata(out("two.h5mu"))
    mudata(out("latest-two.h5mu"), latest=True)
    for path in paths:
        expect(path)


def large(source, target, libver):
    """Groups and attributes too many for an object header."""
    rewrite(source, target, latest=libver is not None)
    with h5py.File(target, "r+", libver=libver) as f:
        for i in range(600):
            f["obs"].create_dataset("column %d" % i, data=np.arange(31) * i)
        for i in range(40):
            f["obs"].attrs["more %d" % i] = "x" * 50 * i
        f["obs"].attrs["column-order"] = ["column %d" % i for i in range(600)]


def compact(source, target, libver):
    """Values in the object headers."""
    with h5py.File(source, "r") as a, h5py.File(target, "w", libver=libver) as b:
        for key in a:
            a.copy(key, b)
        b.attrs.update(a.attrs)
        for name in "X", "obsm/X_pca", "obs/depth":
            values, attrs = b[name][()], dict(b[name].attrs)
            del b[name]
            create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            create.set_layout(h5py.h5d.COMPACT)
            space = h5py.h5s.create_simple(values.shape)
            d = h5py.h5d.create(b.id, name.encode(), h5py.h5t.py_create(values.dtype), space, create)
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
            b[name].attrs.update(attrs)


def nullable(source, target):
    """Values that may be missing, also as newer versions write names."""
    rewrite(source, target)
    with h5py.File(target, "r+") as f:
        obs, mask = f["obs"], np.arange(31) % 4 == 1

        def group(name, kind, values, mask):
            g = obs.create_group(name)
            g.attrs.update({"encoding-type": kind, "encoding-version": "0.1.0"})
            g["values"], g["mask"] = values, mask
            g["values"].attrs["encoding-type"] = "array"

        group("maybe int", "nullable-integer", np.arange(31), mask)
        group("maybe bool", "nullable-boolean", np.arange(31) % 2 == 0, mask)
        group("maybe text", "nullable-string-array", np.array(["t%d" % i for i in range(31)], object), mask)
        names = obs["_index"][()]
        del obs["_index"]
        group("_index", "nullable-string-array", names, np.zeros(31, bool))


def before08(source, target):
    """Categories as references, sparse matrices without kinds of arrays."""
    rewrite(source, target)
    with h5py.File(target, "r+") as f:
        for key in list(f.attrs):
            del f.attrs[key]
        obs = f["obs"]
        obs.attrs["encoding-version"] = "0.1.0"
        for name in "celltype", "gaps", "batch":
            obs["__categories/" + name] = obs[name]["categories"][()]
            codes = obs[name]["codes"][()]
            del obs[name]
            obs[name] = codes
            obs[name].attrs["categories"] = obs["__categories/" + name].ref


def many_chunks(source, target):
    """Indices of so many chunks that they have pages."""
    rewrite(source, target, latest=True)
    x = np.arange(31 * 700, dtype="f4").reshape(31, 700) % 97
    with h5py.File(target, "r+", libver="latest") as f:
        f["obsm"].create_dataset("fixed", data=x, chunks=(1, 1))
        f["obsm"].create_dataset("fixed gzip", data=x, chunks=(1, 2), compression=1)
        f["obsm"].create_dataset("extensible", data=x, chunks=(1, 1), maxshape=(31, None))
        f["obsm"].create_dataset("extensible rows", data=x, chunks=(1, 1), maxshape=(None, 900))
        f["obsm"].create_dataset("tree", data=x, chunks=(1, 1), maxshape=(None, None))
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_chunk((2, 3))
        create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        d = h5py.h5d.create(f["obsm"].id, b"implicit", h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple((31, 700)), create)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, x)


def kept(folder):
    """Small files of both kinds of HDF5, by h5py alone."""

    def part(f, path, rows, make, **options):
        obs = f.create_group(path + "obs")
        obs.attrs.update({"encoding-type": "dataframe", "_index": "barcode", "column-order": ["celltype", "good"]})
        obs.create_dataset("barcode", data=np.array(["cell-%02d" % i for i in rows], object))
        obs.create_group("celltype").attrs["encoding-type"] = "categorical"
        obs["celltype/codes"] = np.array([i % 3 for i in rows], "i1")
        obs["celltype/categories"] = np.array(["B", "T", "NK"], object)
        obs["good"] = np.array([i % 4 != 0 for i in rows])
        make(f, path, np.array([[(i % 3) * 7 + (3 * i + 5 * k) % 4 for k in range(5)] for i in rows], "f4"), **options)

    def dense(f, path, x, **options):
        f.create_dataset(path + "X", data=x, **options)

    def sparse(f, path, x, **options):
        x, g = sp.csr_matrix(x), f.create_group(path + "X")
        g.attrs.update({"encoding-type": "csr_matrix", "shape": x.shape})
        for name in "data", "indices", "indptr":
            g.create_dataset(name, data=getattr(x, name), **options)

    files = [folder + "/" + name for name in ("small.h5ad", "small-latest.h5ad", "small.h5mu")]
    with h5py.File(files[0], "w") as f:
        part(f, "", range(24), dense, chunks=(5, 2), compression="gzip", shuffle=True)
    with h5py.File(files[1], "w", libver="latest") as f:
        part(f, "", range(24), sparse, chunks=(7,), compression="lzf", fletcher32=True, maxshape=(None,))
    with h5py.File(files[2], "w", userblock_size=512) as f:
        f.attrs["axis"] = 0
        part(f, "mod/rna/", range(20), sparse)
        part(f, "mod/atac/", range(23, 3, -1), dense, chunks=(9, 5), compression="lzf")
        f["obs/_index"] = np.array(["cell-%02d" % i for i in range(24)], object)
        f["obs"].attrs["_index"] = "_index"
        f["obsmap/rna"] = np.array([i + 1 if i < 20 else 0 for i in range(24)], "u4")
        f["obsmap/atac"] = np.array([24 - i if i > 3 else 0 for i in range(24)], "u4")
        f["mod"].attrs["mod-order"] = ["rna", "atac"]
    with open(files[2], "r+b") as f:
        f.write(b"MuData (format-version=0.1.0;creator=test;creator-version=1)")
    for path in files:
        expect(path)


if __name__ == "__main__":
    if sys.argv[1] == "--kept":
        kept(sys.argv[2])
    elif sys.argv[1] == "--expect":
        for path in sys.argv[2:]:
            expect(path)
    else:
        write_all(sys.argv[1])
