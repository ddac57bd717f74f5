"""Makes views of what users have: arrays, nested lists, sparse matrices and data frames.

The values are checked by the command. What is checked here is what it never sees: shapes, types
and the labels of rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional, Sequence

import numpy as np

# The values that a sparse view may have in memory while it is written.
_BLOCK = 1 << 22


@dataclass
class View:
    """One view: a row for every sample, NaN throughout where the sample lacks the view.

    Attributes
    ----------
    name : str
    rows : array or sparse matrix of shape (n_samples, n_features), or None
        None says that all samples lack the view.
    columns : array of str of shape (n_features,), or None
        The names of the features, where a data frame has them.
    """

    name: str
    rows: Any
    columns: Optional[np.ndarray] = None

    def write(self, path: str) -> None:
        """Write the rows to a file in the format of NumPy."""
        with open(path, "wb") as file:
            if isinstance(self.rows, np.ndarray):
                np.save(file, self.rows, allow_pickle=False)
                return
            samples, features = self.rows.shape
            kind = np.dtype(np.float32 if self.rows.dtype == np.float32 else np.float64)
            header = {"descr": kind.str, "fortran_order": False, "shape": (samples, features)}
            np.lib.format.write_array_header_1_0(file, header)
            step = max(1, _BLOCK // features)
            for first in range(0, samples, step):
                file.write(self.rows[first : first + step].toarray().astype(kind).tobytes())


@dataclass
class Views:
    """All views of some samples.

    Attributes
    ----------
    views : list of View
    ids : list, or None
        The labels of the rows, where they come from data frames that have an index.
    named : bool
        Whether the user has named the views.
    """

    views: list[View]
    ids: Optional[list[Any]] = None
    named: bool = False
    # The index of every frame, and None for what is none.
    _indexes: list[Any] = field(default_factory=list)


def collect(data: Any, known: Sequence[str] = ()) -> Views:
    """Return the views of the data.

    Parameters
    ----------
    data : array-like, sparse matrix or data frame; or a list, tuple or mapping of them
        A list holds one view each, None where all samples lack it; a mapping has the names of
        the views as keys. Of a data frame, every column of lists is a view; if there is none,
        all columns are one. Several frames are joined by their indexes.
    known : sequence of str
        The names of the views of the model, if there is one. A column of such a name is a view
        that all samples lack if all its cells are null.

    Raises
    ------
    ValueError, TypeError
        If the data are no views.
    """
    # A sparse matrix by keys is a mapping, too.
    if isinstance(data, Mapping) and not hasattr(data, "tocsr"):
        if not data:
            raise ValueError("there is no view: the mapping is empty; give at least one view")
        found = Views([], named=True)
        items = [(str(name), part) for name, part in data.items()]
    elif isinstance(data, (list, tuple)) and any(part is None or _depth(part) >= 2 for part in data):
        found = Views([])
        items = [(f"view{i}", part) for i, part in enumerate(data)]
    else:
        found = Views([])
        items = [("view0", data)]
    prefix = found.named
    for name, part in items:
        _add(found, name, part, known, prefix)
    frames = [index for index in found._indexes if index is not None]
    if frames:
        _join(found, frames)
    _check_lengths([view for view in found.views if view.rows is not None])
    return found


def _check_lengths(views: Sequence[View]) -> None:
    """Report an error where views have different numbers of samples."""
    for view in views:
        if view.rows.shape[0] != views[0].rows.shape[0]:
            raise ValueError(
                f"{view.name}: it has {view.rows.shape[0]} rows, and {views[0].name} has {views[0].rows.shape[0]}; give views "
                "of the same samples, with rows of NaN where a sample lacks one, or data frames with an index to join them by"
            )


def _add(found: Views, name: str, part: Any, known: Sequence[str], prefix: bool) -> None:
    """Add the views of a part of the data. With prefix, the name goes before those of columns."""
    if part is None:
        views = [View(name, None)]
    elif _is_frame(part):
        views = list(_frame(name, part, known, prefix))
        if views[0].columns is None:  # the views are columns, which have names
            found.named = True
    else:
        views = [View(name, _matrix(name, part))]
    found.views += views
    found._indexes += [part.index if _is_frame(part) else None] * len(views)


def _is_frame(x: Any) -> bool:
    """Report whether x is a data frame, without importing pandas."""
    return all(hasattr(x, name) for name in ("columns", "index", "iloc"))


def _depth(x: Any) -> int:
    """Return the number of dimensions of an array or of nested lists."""
    if hasattr(x, "ndim"):
        return int(x.ndim)
    if isinstance(x, (list, tuple)):
        return 1 + (_depth(x[0]) if x else 0)
    return np.ndim(np.asarray(x)) if hasattr(x, "__array__") else 0


def _matrix(name: str, x: Any) -> Any:
    """Return an array of numbers of two dimensions, or a sparse matrix by rows."""
    if hasattr(x, "tocsr"):
        rows = x.tocsr()
    elif isinstance(x, np.ma.MaskedArray):
        rows = x.astype(np.float64).filled(np.nan)
    else:
        rows = np.asarray(x)
    if rows.ndim != 2:
        raise ValueError(
            f"{name}: expected a 2D array, got an array of shape {rows.shape}. Reshape your data: "
            "x.reshape(-1, 1) for a single feature, x.reshape(1, -1) for a single sample; "
            "several views are a list of 2D arrays"
        )
    for count, what in zip(rows.shape, ("sample", "feature")):
        if count == 0:
            raise ValueError(f"{name}: 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required.")
    return _numbers(name, rows)


def _numbers(name: str, rows: Any) -> Any:
    """Return the rows in a type that the command reads."""
    kind = rows.dtype.kind
    if kind == "c":
        raise ValueError(f"{name}: Complex data not supported; give real numbers")
    if kind == "O":
        return rows.astype(np.float64)
    if kind not in "biuf":
        raise ValueError(f"{name}: {rows.dtype} is no type of numbers; give numbers")
    return rows.astype(np.float64) if rows.dtype.itemsize > 8 else rows


def _frame(name: str, frame: Any, known: Sequence[str], prefix: bool) -> Iterator[View]:
    """Return the views of a data frame: its columns of lists, or else all columns as one."""
    columns = [(str(c), frame.iloc[:, k]) for k, c in enumerate(frame.columns)]
    lists = [(c, column) for c, column in columns if _holds_lists(column)]
    for c, column in lists:
        alone = prefix and len(lists) == 1
        view = name if alone else f"{name}.{c}" if prefix else c
        yield View(view, _stack(view, column))
    empty = [c for c, column in columns if c in known and bool(column.isna().all())]
    for c in empty:
        yield View(c, None)
    if lists or empty:
        return
    rows = np.empty(frame.shape)
    for k, (c, column) in enumerate(columns):
        try:
            rows[:, k] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}: the column {c!r} holds {column.dtype}, not numbers; leave it out, or give lists of numbers"
            ) from None
    yield View(name, _matrix(name, rows), np.asarray([c for c, _ in columns], dtype=object))


def _holds_lists(column: Any) -> bool:
    """Report whether the first cell of a column that is not null is a list."""
    if column.dtype.kind in "biuf":
        return False
    present = column[column.notna().to_numpy()]
    return len(present) > 0 and isinstance(present.iloc[0], (list, tuple, np.ndarray))


def _stack(name: str, column: Any) -> np.ndarray:
    """Return a column of lists as an array, NaN throughout where a cell is null."""
    cells = list(column)
    present = [i for i, cell in enumerate(cells) if isinstance(cell, (list, tuple, np.ndarray))]
    width = len(cells[present[0]])
    rows = np.full((len(cells), width), np.nan)
    for i, null in enumerate(column.isna()):
        if null:
            continue
        if not isinstance(cells[i], (list, tuple, np.ndarray)) or len(cells[i]) != width:
            raise ValueError(
                f"{name}: row {i} (counted from 0) is no list of {width} numbers, as row {present[0]} is; "
                "give lists of one length, and null where a sample lacks the view"
            )
        rows[i] = cells[i]
    return _matrix(name, rows)


def _join(found: Views, frames: Sequence[Any]) -> None:
    """Bring the rows of frames into one order, and set the ids."""
    first = frames[0]
    if any(view.rows is not None and index is None for view, index in zip(found.views, found._indexes)):
        # Beside arrays, rows count by their order.
        if not all(first.equals(index) for index in frames):
            raise ValueError("data frames with different indexes cannot be joined with arrays, which have none; give frames alone")
    elif not all(first.equals(index) for index in frames):
        found.ids = _union(found, frames)
        return
    if not _is_default(first) and first.is_unique:
        found.ids = list(first)


def _union(found: Views, frames: Sequence[Any]) -> list[Any]:
    """Move the rows of all views to the places of their ids, which it returns."""
    if all(_is_default(index) for index in frames):
        sizes = ", ".join(str(len(index)) for index in frames)
        raise ValueError(f"the data frames have {sizes} rows and no index to join them by; give them one, or equal lengths")
    for view, index in zip(found.views, found._indexes):
        if index is not None and not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(f"{view.name}: the index has {twice!r} twice; frames are joined by it, so make it unique")
    place: dict[Any, int] = {}
    for index in frames:
        for label in index:
            place.setdefault(label, len(place))
    for view, index in zip(found.views, found._indexes):
        if view.rows is not None:
            rows = np.full((len(place), view.rows.shape[1]), np.nan)
            rows[[place[label] for label in index]] = view.rows
            view.rows = rows
    return list(place)


def _is_default(index: Any) -> bool:
    """Report whether an index counts the rows from 0, as frames do that were given none."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def write(views: Iterable[View], folder: str) -> list[Optional[str]]:
    """Write every view to a file and return the names of the files, None for views that are None.

    The files are called like the views, as far as file systems allow, so that the command's
    sentences name them.
    """
    taken: set[str] = set()
    names: list[Optional[str]] = []
    for view in views:
        if view.rows is None:
            names.append(None)
            continue
        name = re.sub(r"[^\w .-]", "_", view.name)[:80].strip(" .-") or "view"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        view.write(os.path.join(folder, name))
        names.append(name)
    return names
