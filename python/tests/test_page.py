"""The page docs/python.md, and the examples in the documentation of the package, are true."""

from __future__ import annotations

import doctest
import re
import unittest
from pathlib import Path

import mvclust._estimator

from .data import needs_command

try:
    import pandas
    import sklearn
except ImportError:
    pandas = sklearn = None

OPTIONS = doctest.ELLIPSIS | doctest.REPORT_NDIFF


@needs_command
class Page(unittest.TestCase):
    @unittest.skipIf(sklearn is None, "pandas or scikit-learn is not installed")
    def test_page(self) -> None:
        page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
        text = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
        test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", "docs/python.md", 0)
        said: "list[str]" = []
        doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=said.append)
        if said:
            self.fail("".join(said))
        self.assertGreater(len(test.examples), 30)

    def test_examples(self) -> None:
        failed, tried = doctest.testmod(mvclust._estimator, verbose=False, optionflags=OPTIONS)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 5)


if __name__ == "__main__":
    unittest.main()
