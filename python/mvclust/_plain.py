"""What the estimator needs of scikit-learn, for where that is not installed."""

from __future__ import annotations

import inspect
from typing import Any


class NotFittedError(ValueError, AttributeError):
    """An estimator is used before it is fitted."""


class ClusterMixin:
    """Marks a clusterer."""


class BaseEstimator:
    """Parameters are the arguments of ``__init__``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name and return the estimator."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        standard = inspect.signature(type(self)).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not standard[k].default]
        return f"{type(self).__name__}({', '.join(changed)})"
