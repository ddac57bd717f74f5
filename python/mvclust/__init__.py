"""Clustering of samples that are described in several views.

``MVClust`` is an estimator in the manner of scikit-learn. It runs the command ``mvclust``,
which the package carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._estimator import Assignment, Explanation, MVClust

__version__ = "0.1.0"
__all__ = ["Assignment", "Explanation", "MVClust", "__version__"]


def __getattr__(name: str) -> object:
    # numpy and scikit-learn are loaded on first use: "python -m mvclust" needs neither.
    if name in ("Assignment", "Explanation", "MVClust"):
        from . import _estimator

        return getattr(_estimator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
