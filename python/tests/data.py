"""Made-up data whose classes are known."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import numpy as np

import mvclust

try:
    from mvclust._command import find

    find()
    reason = ""
except FileNotFoundError as error:
    reason = str(error)

# The environment of a child that imports the package too, wherever it was imported from here.
environment = {**os.environ, "PYTHONPATH": str(Path(mvclust.__file__).resolve().parents[1])}

needs_command = unittest.skipIf(reason, reason)


def views(samples: int = 90, seed: int = 0) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return two views of three classes, and the classes."""
    rng = np.random.default_rng(seed)
    classes = np.arange(samples) % 3
    images = rng.normal(size=(samples, 6)) + 4 * rng.normal(size=(3, 6))[classes]
    texts = rng.normal(size=(samples, 9)) + 4 * rng.normal(size=(3, 9))[classes]
    return images, texts, classes


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Report whether two labellings are the same but for the numbers."""
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))
