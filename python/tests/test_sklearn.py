"""scikit-learn's own checks."""

from __future__ import annotations

import unittest
import warnings

import numpy as np

from mvclust import MVClust

from .data import needs_command, views

try:
    import sklearn
    from sklearn.base import clone
    from sklearn.exceptions import SkipTestWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sklearn = None


@needs_command
@unittest.skipIf(sklearn is None, "scikit-learn is not installed")
class ScikitLearn(unittest.TestCase):
    def test_check_estimator(self) -> None:
        checks = 0
        for estimator, check in check_estimator(MVClust(), generate_only=True):
            checks += 1
            with self.subTest(str(check)), warnings.catch_warnings():
                # A check that is skipped would warn.
                warnings.simplefilter("error", SkipTestWarning)
                check(estimator)
        self.assertGreater(checks, 30)

    def test_clone(self) -> None:
        m = MVClust(neighbours=5, params={"scale": "minmax"})
        self.assertEqual(clone(m).get_params(), m.get_params())
        self.assertFalse(hasattr(clone(m.fit(views()[0])), "labels_"))

    def test_pipeline(self) -> None:
        images = views()[0]
        p = make_pipeline(StandardScaler(), MVClust())
        alone = MVClust().fit_predict(StandardScaler().fit_transform(images))
        np.testing.assert_array_equal(p.fit_predict(images), alone)
        p.set_params(mvclust__neighbours=4).fit(images)
        self.assertEqual(p[-1].run_["settings"]["neighbors"], 4)
        np.testing.assert_array_equal(p.predict(images), p[-1].labels_)


if __name__ == "__main__":
    unittest.main()
