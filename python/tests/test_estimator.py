from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

from mvclust import MVClust, __version__

from .data import environment, needs_command, same, views


@needs_command
class Fit(unittest.TestCase):
    def setUp(self) -> None:
        self.images, self.texts, self.classes = views()

    def test_attributes(self) -> None:
        m = MVClust().fit([self.images, self.texts])
        self.assertTrue(same(m.labels_, self.classes))
        self.assertEqual(m.n_clusters_, 3)
        self.assertEqual(m.confidence_.shape, (90,))
        self.assertTrue(((m.confidence_ >= 0) & (m.confidence_ <= 1)).all())
        self.assertEqual(m.view_names_, ["view0", "view1"])
        self.assertEqual(m.n_features_in_, 15)
        self.assertIsNone(m.ids_)
        self.assertIsNone(m.scores_)
        self.assertEqual(m.run_["version"], __version__)
        self.assertIn("<html", m.report_)

    def test_levels(self) -> None:
        m = MVClust().fit([self.images, self.texts])
        self.assertEqual(m.levels_.shape, (90, len(m.run_["levels"])))
        if m.level_ >= 0:
            np.testing.assert_array_equal(m.levels_[:, m.level_], m.labels_)
        m = MVClust(preset="paper", neighbours=20).fit([self.images, self.texts])
        self.assertEqual(m.levels_.shape, (90, 0))
        self.assertEqual(m.level_, -1)

    def test_missing_rows(self) -> None:
        self.texts[7] = np.nan
        m = MVClust().fit([self.images, self.texts])
        self.assertEqual([v["present"] for v in m.run_["inputs"]["views"]], [90, 89])
        self.assertTrue(same(m.labels_, self.classes))

    def test_parameters(self) -> None:
        m = MVClust(
            preset="paper", neighbours=11, resolution=0.5, metrics=["l2", "cosine"],
            params={"epochs": 3, "training": True}, random_state=7, n_jobs=1, memory="1GiB",
        ).fit([self.images, self.texts])
        settings = m.run_["settings"]
        for name, want in {
            "neighbors": 11, "resolution": 0.5, "metric": ["l2", "cosine"], "epochs": 3, "training": "on",
        }.items():
            self.assertEqual(settings[name], want, name)
        self.assertEqual((m.run_["preset"], m.run_["seed"], m.run_["threads"]), ("paper", 7, 1))

    def test_random_state(self) -> None:
        def seed(state: object) -> int:
            return MVClust(random_state=state).fit(self.images).run_["seed"]

        self.assertEqual(seed(None), 0)
        self.assertEqual(seed(np.random.RandomState(1)), seed(np.random.RandomState(1)))
        self.assertNotEqual(seed(np.random.default_rng(1)), seed(np.random.default_rng(2)))

    def test_constraints(self) -> None:
        m = MVClust().fit([self.images, self.texts], cannot_link=[(0, 3), (0, 6)], must_link=np.array([[3, 6]]))
        self.assertNotEqual(m.labels_[0], m.labels_[3])
        self.assertEqual(m.labels_[3], m.labels_[6])
        groups = [None] * 90
        groups[0] = groups[3] = "photo"
        m.fit([self.images, self.texts], distinct=groups)
        self.assertNotEqual(m.labels_[0], m.labels_[3])
        self.assertEqual(m.run_["constraints"]["distinct_samples"], 2)

    def test_truth(self) -> None:
        names = np.array(["a", "b", "c"])[self.classes]
        for truth in (self.classes, names, list(names), names.astype(object)):
            m = MVClust().fit([self.images, self.texts], truth=truth)
            assert m.scores_ is not None
            self.assertEqual(m.scores_["ari"], 1)

    def test_fill(self) -> None:
        gaps = self.images.copy()
        gaps[3, 1] = np.nan
        m = MVClust(fill="mean").fit([gaps, self.texts])
        self.assertEqual(m.run_["inputs"]["views"][0]["filled_cells"], 1)
        self.assertEqual(len(m.predict([gaps, self.texts])), len(gaps))

    def test_errors(self) -> None:
        a, b = self.images, self.texts
        hole, infinite = a.copy(), a.copy()
        hole[3, 1], infinite[4, 2] = np.nan, -np.inf
        cases = [
            (MVClust(), [hole, b], {}, r"view0: row 3 \(counted from 0\) has 1 NaN among its 6 values"),
            (MVClust(), {"images": hole, "texts": b}, {}, r"^images: row 3"),
            (MVClust(), [a, infinite], {}, r"view1: row 4 \(counted from 0\) holds -inf in column 2"),
            (MVClust(), [a, b[:50]], {}, r"view1: it has 50 rows, and view0 has 90"),
            (MVClust(), [a, b[0]], {}, r"view1: expected a 2D array"),
            (MVClust(), [a, None], {}, r"view1: the view is None"),
            (MVClust(), {}, {}, r"there is no view"),
            (MVClust(), a + 1j, {}, r"Complex data not supported"),
            (MVClust(), a.astype(str), {}, r"no type of numbers"),
            (MVClust(), np.zeros((2, 90, 6)), {}, r"several views are a list"),
            (MVClust(neighbours=0), [a, b], {}, r'^neighbours: "0" is not a whole number'),
            (MVClust(neighbours=90), [a, b], {}, r"^neighbours: 90 is not between 1 and 89"),
            (MVClust(metrics="angle"), [a, b], {}, r'^metrics: unknown metric "angle"'),
            (MVClust(preset="best"), [a, b], {}, r'^preset: unknown preset "best"'),
            (MVClust(params={"epoch": 3}), [a, b], {}, r"^params epoch: there is no such setting"),
            (MVClust(n_jobs=0), [a, b], {}, r'^n_jobs: "0"'),
            (MVClust(memory="1kB"), [a, b], {}, r"^memory: 1000 is too little"),
            (MVClust(random_state=-1), [a, b], {}, r'^random_state: "-1"'),
            (MVClust(random_state="x"), [a, b], {}, r"^random_state: 'x' cannot be used"),
            (MVClust(), [a, b], {"must_link": [(0, 90)]}, r"^must_link: there is no sample 90; name a row from 0 to 89"),
            (MVClust(), [a, b], {"must_link": [(0, 1, 2)]}, r"^must_link: a pair has two samples"),
            (MVClust(), [a, b], {"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, r"0.*1"),
            (MVClust(), [a, b], {"distinct": [1, 2]}, r"^distinct: its shape is \(2,\)"),
            (MVClust(), [a, b], {"truth": self.classes[:5]}, r"^truth: its shape is \(5,\)"),
        ]
        for m, data, keywords, sentence in cases:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence) as caught:
                m.fit(data, **keywords)
            self.assertNotIn(tempfile.gettempdir(), str(caught.exception))
            self.assertNotIn("--", str(caught.exception).replace("mvclust fit --help", ""))

    def test_folders_are_removed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                m = MVClust().fit(self.images)
                m.predict(self.images)
                m.explain(1, 2)
                with self.assertRaises(ValueError):
                    MVClust(neighbours=0).fit(self.images)
                self.assertEqual(os.listdir(folder), [])
            finally:
                tempfile.tempdir = before


@needs_command
class Fitted(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.images, cls.texts, cls.classes = views()
        cls.m = MVClust().fit({"images": cls.images, "texts": cls.texts})

    def test_predict(self) -> None:
        np.testing.assert_array_equal(self.m.predict({"texts": self.texts, "images": self.images}), self.m.labels_)
        np.testing.assert_array_equal(self.m.predict([self.images, self.texts]), self.m.labels_)
        one = self.m.predict({"texts": self.texts})
        np.testing.assert_array_equal(one, self.m.predict([None, self.texts]))
        self.assertGreater((one == self.m.labels_).mean(), 0.9)
        new = self.m.assign([self.images[:2] + 0.01, None])
        np.testing.assert_array_equal(new.labels, self.m.labels_[:2])
        self.assertEqual([len(column) for column in new], [2, 2, 2, 2])

    def test_predict_errors(self) -> None:
        for data, sentence in [
            ({"sounds": self.images}, "there is no view 'sounds'; the views are 'images', 'texts'"),
            ([self.images], "there are 1 views, and 2 were fitted"),
            ([None, None], "all are None"),
            ([self.texts, self.images], "X has 9 features, but MVClust is expecting 6 features as input"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                self.m.predict(data)

    def test_not_fitted(self) -> None:
        for use in (lambda m: m.predict(self.images), lambda m: m.explain(0), lambda m: m.save("x"), lambda m: m.suggest()):
            with self.assertRaisesRegex(ValueError, "not fitted yet"):
                use(MVClust())

    def test_explain(self) -> None:
        one = self.m.explain(4)
        self.assertEqual((one["sample"], one["cluster"]), (4, self.m.labels_[4]))
        two = self.m.explain(np.int64(4), 5)
        self.assertEqual([v["name"] for v in two["views"]], ["images", "texts"])
        self.assertIn("images", repr(two))
        self.assertEqual(repr(pickle.loads(pickle.dumps(two))), repr(two))
        for wrong in (90, -1, "4", 1.5):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "name a row from 0 to 89"):
                self.m.explain(wrong)

    def test_suggest(self) -> None:
        self.assertIsInstance(self.m.suggest(top=1), dict)

    def test_pickle(self) -> None:
        again = pickle.loads(pickle.dumps(self.m))
        np.testing.assert_array_equal(again.predict([self.images, self.texts]), self.m.labels_)
        self.assertEqual(again.report_, self.m.report_)

    def test_save(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.m.save(os.path.join(folder, "out"))
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "out"))), sorted(self.m.files_))

    def test_notebook(self) -> None:
        bundle = self.m._repr_mimebundle_()
        self.assertTrue(bundle["text/html"].startswith("<iframe"))
        self.assertIn("sandbox=", bundle["text/html"])
        self.assertNotIn("<script", bundle["text/html"])  # all of it is escaped
        self.assertIn("MVClust", bundle["text/plain"])
        self.assertIn("neighbours=3", MVClust(neighbours=3)._repr_html_())
        long = pickle.loads(pickle.dumps(self.m))
        long.files_["report.html"] = b"x" * 8_000_001
        self.assertIn("8 MB", long._repr_html_())


@needs_command
class Interruption(unittest.TestCase):
    @unittest.skipIf(os.name != "posix", "signals are those of Unix")
    def test_ctrl_c(self) -> None:
        # The command is a script that tells that it has begun, and ends only if it is told to.
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "slow")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\nimport os, sys, time\nopen({folder!r} + '/pid', 'w').write(str(os.getpid()))\n"
                           "print('{\"note\": \"begun\"}', file=sys.stderr, flush=True)\ntime.sleep(60)\n")
            os.chmod(script, 0o755)
            work = os.path.join(folder, "work")
            os.mkdir(work)
            program = (
                "import signal, tempfile\nimport numpy as np\nfrom mvclust import MVClust\n"
                "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                f"tempfile.tempdir = {work!r}\nMVClust(progress=True).fit(np.eye(9))\n"
            )
            child = subprocess.Popen(
                [sys.executable, "-c", program], env={**environment, "MVCLUST_COMMAND": script}, stderr=subprocess.PIPE, text=True
            )
            assert child.stderr is not None
            guard = threading.Timer(50, child.kill)
            guard.start()
            with child.stderr:
                for line in child.stderr:
                    if "begun" in line:
                        break
                child.send_signal(signal.SIGINT)
                said = child.stderr.read()
            child.wait()
            guard.cancel()
            self.assertIn("KeyboardInterrupt", said)
            self.assertEqual(os.listdir(work), [])
            with open(os.path.join(folder, "pid"), encoding="utf-8") as file:
                pid = int(file.read())
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)


class WithoutCommand(unittest.TestCase):
    def test_named_wrongly(self) -> None:
        before = os.environ.get("MVCLUST_COMMAND")
        os.environ["MVCLUST_COMMAND"] = os.path.join("no", "such", "program")
        try:
            with self.assertRaisesRegex(FileNotFoundError, "MVCLUST_COMMAND is"):
                MVClust().fit(np.eye(9))
        finally:
            del os.environ["MVCLUST_COMMAND"]
            if before is not None:
                os.environ["MVCLUST_COMMAND"] = before


@needs_command
class Granularity(unittest.TestCase):
    def setUp(self) -> None:
        self.images, self.texts, self.classes = views()

    def test_number_of_clusters(self) -> None:
        m = MVClust(n_clusters=5).fit([self.images, self.texts])
        self.assertEqual((m.n_clusters_, len(set(m.labels_))), (5, 5))
        m.cut(n_clusters=2)
        self.assertEqual((m.n_clusters_, len(set(m.labels_))), (2, 2))
        self.assertTrue((m.predict([self.images, self.texts]) == m.labels_).all())
        with self.assertRaisesRegex(ValueError, "n_clusters"):
            MVClust(n_clusters=91).fit([self.images, self.texts])

    def test_levels(self) -> None:
        m = MVClust().fit([self.images, self.texts])
        before, level = m.labels_, m.level_
        for other in range(m.levels_.shape[1]):
            m.cut(other)
            self.assertEqual(m.level_, other)
            self.assertTrue(same(m.labels_, m.levels_[:, other]))
        self.assertTrue((m.cut(level).labels_ == before).all())
        with self.assertRaisesRegex(ValueError, "no level 99"):
            m.cut(99)
        with self.assertRaisesRegex(ValueError, "one way"):
            m.cut()
        self.assertTrue((m.labels_ == before).all())

    def test_examples(self) -> None:
        names = {0: "oak", 3: "oak", 1: "elm", 2: "ash, white"}
        for m in (MVClust().fit([self.images, self.texts], examples=names), MVClust().fit([self.images, self.texts]).cut(examples=names)):
            self.assertEqual({m.cluster_names_[m.labels_[i]] for i in (0, 3)}, {"oak"})
            self.assertEqual(sorted(m.cluster_names_.values()), ["ash, white", "elm", "oak"])
        with self.assertRaisesRegex(ValueError, "examples: there is no sample 90"):
            m.cut(examples={90: "oak"})


@needs_command
class WithoutScikitLearn(unittest.TestCase):
    def test_numpy_is_enough(self) -> None:
        program = (
            "import sys\nsys.modules['sklearn'] = None\nimport pickle\nimport numpy as np\nfrom mvclust import MVClust\n"
            "m = MVClust(random_state=3).set_params(n_jobs=1)\n"
            "assert repr(m) == 'MVClust(random_state=3, n_jobs=1)', m\n"
            "x = np.random.default_rng(0).normal(size=(30, 4))\n"
            "assert (pickle.loads(pickle.dumps(m.fit(x))).predict(x) == m.fit_predict(x)).all()\n"
            "try:\n    m.set_params(k=1)\nexcept ValueError as error:\n    assert 'parameters are' in str(error)\nelse:\n    raise SystemExit('k was taken')\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)


if __name__ == "__main__":
    unittest.main()
