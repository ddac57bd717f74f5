"""Writes v5.mat and v73.mat, synthetic files from writers other than the tests'.

Run with scipy 1.10 and h5py 3.7: python3 make.py
"""

import struct

import h5py
import numpy as np
import scipy.io
import scipy.sparse

grid = np.arange(35.0).reshape(7, 5) / 4 - 3
thin = scipy.sparse.csc_matrix(([1.5, -2.0, 4.0], ([0, 2, 1], [0, 0, 3])), shape=(3, 4))
pair = np.empty((1, 2), dtype=object)
pair[0, 0], pair[0, 1] = grid[:2], np.int8([[1], [-2], [3]])
names = np.array([["ant", "bée", "𝒳y"]], dtype=object)
scipy.io.savemat(
    "v5.mat",
    {
        "grid": grid,
        "thin": thin,
        "pair": pair,
        "names": names,
        "rows": np.array(["one", "three"]),
        "s": {"x": np.uint16([[1, 2], [3, 65535]]), "none": np.zeros((0, 3))},
        "flag": np.array([[True, False]]),
        "z": np.array([[1 + 2j]]),
    },
    do_compression=True,
)

with h5py.File("v73.mat", "w", userblock_size=512) as f:
    refs = f.create_group("#refs#")

    def put(group, name, a, cls, **kw):
        a = np.asarray(a)
        d = group.create_dataset(name, data=a.T, **kw)
        d.attrs["MATLAB_class"] = np.bytes_(cls)
        return d

    def empty(group, name, dims, cls):
        d = group.create_dataset(name, data=np.uint64(dims))
        d.attrs["MATLAB_class"] = np.bytes_(cls)
        d.attrs["MATLAB_empty"] = np.uint8(1)
        return d

    def chars(group, name, text):
        codes = np.frombuffer(text.encode("utf-16-le"), np.uint16).reshape(1, -1)
        d = put(group, name, codes, "char")
        d.attrs["MATLAB_int_decode"] = np.int32(2)
        return d

    def sparse(group, name, m):
        g = group.create_group(name)
        g.attrs["MATLAB_class"] = np.bytes_("double")
        g.attrs["MATLAB_sparse"] = np.uint64(m.shape[0])
        if m.nnz:
            g["data"] = m.data
            g["ir"] = m.indices.astype(np.uint64)
        g["jc"] = m.indptr.astype(np.uint64)
        return g

    def cell(group, name, objects):
        r = np.array([[o.ref for o in objects]], dtype=h5py.ref_dtype)
        return put(group, name, r, "cell")

    def compact(group, name, a, cls):
        a = np.asarray(a).T.copy()
        space = h5py.h5s.create_simple(a.shape)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        d = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(a.dtype), space, plist)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
        h5py.Dataset(d).attrs["MATLAB_class"] = np.bytes_(cls)

    put(f, "grid", grid, "double")
    put(f, "boxes", grid.astype(np.float32), "single", chunks=(3, 4), shuffle=True, compression="gzip")
    put(f, "plain", np.arange(24).reshape(2, 3, 4), "int64", chunks=(3, 2, 2))
    compact(f, "small", [[1, 2], [3, -4]], "int16")
    put(f, "big", np.array([[1, 2, -3]], dtype=">i4"), "int32")
    put(f, "flag", np.uint8([[1, 0]]), "logical").attrs["MATLAB_int_decode"] = np.int32(1)
    put(f, "z", np.array([[1 + 2j]]), "double")
    chars(f, "word", "bée 𝒳")
    empty(f, "none", [0, 3], "double")
    empty(f, "nothing", [0, 0], "char")
    sparse(f, "thin", thin)
    sparse(f, "zeros", scipy.sparse.csc_matrix((2, 3)))
    x = put(refs, "x", grid[:2], "double")
    blank = empty(refs, "a", [0, 0], "canonical empty")
    inner = cell(refs, "i", [put(refs, "y", np.int8([[1], [-2], [3]]), "int8"), sparse(refs, "t", thin)])
    cell(f, "pair", [x, inner, blank])
    cell(f, "names", [chars(refs, "n1", "ant"), empty(refs, "n2", [0, 0], "char"), chars(refs, "n3", "𝒳y")])
    s = f.create_group("s")
    s.attrs["MATLAB_class"] = np.bytes_("struct")
    put(s, "x", np.uint16([[1, 2], [3, 65535]]), "uint16")
    cell(s, "c", [x, x])
    many = f.create_group("many")
    many.attrs["MATLAB_class"] = np.bytes_("struct")
    for field, objects in {"u": [x, blank], "v": [blank, x]}.items():
        many[field] = np.array([[o.ref for o in objects]], dtype=h5py.ref_dtype).T
    put(f, "handle", [[1]], "function_handle")

with open("v73.mat", "r+b") as f:
    f.write(b"MATLAB 7.3 MAT-file, synthetic".ljust(124) + struct.pack("<H", 0x0200) + b"IM")
