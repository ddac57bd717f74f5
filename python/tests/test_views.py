"""What users have becomes views."""

from __future__ import annotations

import os
import tempfile
import unittest
import warnings

import numpy as np

from mvclust import MVClust
from mvclust._views import View, collect, write

from .data import needs_command, same, views

try:
    import pandas
except ImportError:
    pandas = None
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None


class Arrays(unittest.TestCase):
    def test_one_or_several(self) -> None:
        a = np.ones((4, 2))
        for data, shapes in [
            (a, [(4, 2)]),
            (a.tolist(), [(4, 2)]),
            ([row for row in a], [(4, 2)]),
            ([a], [(4, 2)]),
            ([a, a[:, :1]], [(4, 2), (4, 1)]),
            ((a.tolist(), a), [(4, 2), (4, 2)]),
            ({"x": a, "y": a.tolist()}, [(4, 2), (4, 2)]),
            (np.ma.masked_equal(a, 1), [(4, 2)]),
        ]:
            with self.subTest(data=data):
                self.assertEqual([v.rows.shape for v in collect(data).views], shapes)
        self.assertEqual([v.name for v in collect({"x": a, "y": a}).views], ["x", "y"])
        self.assertTrue(np.isnan(collect(np.ma.masked_equal(a, 1)).views[0].rows).all())

    def test_types(self) -> None:
        for kind in ("?", "i1", "u8", "f2", "f4", ">f8", "g", "O"):
            rows = collect(np.ones((3, 2)).astype(kind)).views[0].rows
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                (name,) = write([View("v", rows)], folder)
                np.testing.assert_array_equal(np.load(os.path.join(folder, str(name))), np.ones((3, 2)))

    def test_file_names(self) -> None:
        rows = np.ones((3, 2))
        names = ["images", "IMAGES", "a/b", "a:b", "..", "-x", "", "=", "名前", "x" * 300]
        with tempfile.TemporaryDirectory() as folder:
            files = [str(f) for f in write([View(n, rows) for n in names], folder)]
            self.assertEqual(sorted(files), sorted(os.listdir(folder)))
        self.assertEqual(files[:4], ["images", "IMAGES_", "a_b", "a_b_"])
        for file in files:
            self.assertNotRegex(file, r"^[-.]|[/:=]")
        self.assertEqual(len({f.casefold() for f in files}), len(names))


@unittest.skipIf(sparse is None, "scipy is not installed")
class Sparse(unittest.TestCase):
    def test_written_in_blocks(self) -> None:
        import mvclust._views

        dense = np.random.default_rng(0).normal(size=(50, 7)) * (np.arange(350).reshape(50, 7) % 3 == 0)
        block, mvclust._views._BLOCK = mvclust._views._BLOCK, 60
        try:
            for form in ("csr", "csc", "coo", "lil", "dok"):
                for kind in (np.float64, np.float32, np.int32):
                    found = collect([sparse.coo_matrix(dense.astype(kind)).asformat(form)])
                    with self.subTest(form), tempfile.TemporaryDirectory() as folder:
                        (name,) = write(found.views, folder)
                        np.testing.assert_array_equal(np.load(os.path.join(folder, str(name))), dense.astype(kind))
        finally:
            mvclust._views._BLOCK = block


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(unittest.TestCase):
    def test_columns_of_lists(self) -> None:
        frame = pandas.DataFrame({"name": ["a", "b", "c"], "image": [[1, 2], None, (3, 4)], "text": [np.ones(3)] * 3, "n": [1, 2, 3]})
        found = collect(frame)
        self.assertEqual([v.name for v in found.views], ["image", "text"])
        np.testing.assert_array_equal(found.views[0].rows, [[1, 2], [np.nan, np.nan], [3, 4]])
        self.assertTrue(found.named)
        self.assertIsNone(found.ids)

    def test_columns_of_numbers(self) -> None:
        frame = pandas.DataFrame({"a": [1, 2, None], "b": [True, False, True]}, index=["x", "y", "z"])
        frame["c"] = pandas.array([1, None, 3], dtype="Int64")
        found = collect(frame)
        np.testing.assert_array_equal(found.views[0].rows, [[1, 1, 1], [2, 0, np.nan], [np.nan, 1, 3]])
        self.assertEqual(list(found.views[0].columns), ["a", "b", "c"])
        self.assertEqual(found.ids, ["x", "y", "z"])

    def test_joined_by_index(self) -> None:
        a = pandas.DataFrame(np.arange(6.0).reshape(3, 2), index=["x", "y", "z"])
        b = pandas.DataFrame({"v": [[9], [8]]}, index=["w", "y"])
        found = collect({"a": a, "b": b})
        self.assertEqual(found.ids, ["x", "y", "z", "w"])
        np.testing.assert_array_equal(found.views[0].rows[3], [np.nan, np.nan])
        np.testing.assert_array_equal(found.views[1].rows[:, 0], [np.nan, 8, np.nan, 9])
        self.assertEqual([v.name for v in found.views], ["a", "b"])

    def test_refused(self) -> None:
        frame = pandas.DataFrame(np.eye(3), index=["x", "y", "y"])
        for data, sentence in [
            (pandas.DataFrame({"a": [1, 2], "b": ["u", "v"]}), "view0: the column 'b' holds object, not numbers"),
            (pandas.DataFrame({"a": [[1, 2], [3]]}), r"a: row 1 \(counted from 0\) is no list of 2 numbers"),
            ([frame, pandas.DataFrame(np.eye(3))], "view0: the index has 'y' twice"),
            ([pandas.DataFrame(np.eye(3)), pandas.DataFrame(np.eye(4))], "3, 4 rows and no index"),
            ([frame, frame[:2], np.eye(3)], "cannot be joined with arrays"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                collect(data)

    @needs_command
    def test_fit(self) -> None:
        images, texts, classes = views()
        ids = [f"s{i}" for i in range(90)]
        a = pandas.DataFrame({"image": list(images)}, index=ids)
        b = pandas.DataFrame({"text": list(texts)}, index=ids)[5:][::-1]
        m = MVClust().fit([a, b], must_link=[("s0", "s3")])
        self.assertEqual((m.ids_, m.view_names_), (ids, ["image", "text"]))
        self.assertTrue(same(m.labels_, classes))
        self.assertEqual(m.explain("s7", "s8")["a"]["id"], "s7")
        with self.assertRaisesRegex(ValueError, "there is no sample 's90'; name an id of the index"):
            m.explain("s90")
        np.testing.assert_array_equal(m.predict(a.join(b)), m.labels_)
        lacking = a.join(b)[:5].assign(image=None, text=list(texts[:5]))
        self.assertEqual(len(m.predict(lacking)), 5)

    @needs_command
    def test_feature_names(self) -> None:
        frame = pandas.DataFrame(views()[0], columns=list("abcdef"))
        m = MVClust().fit(frame)
        self.assertEqual(list(m.feature_names_in_), list("abcdef"))
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            m.predict(frame[list("fedcba")])
        with self.assertWarnsRegex(UserWarning, "does not have valid feature names"):
            m.predict(frame.to_numpy())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            m.predict(frame)
        self.assertFalse(hasattr(m.fit(frame.to_numpy()), "feature_names_in_"))


if __name__ == "__main__":
    unittest.main()
