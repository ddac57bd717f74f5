"""The estimator: data in, attributes out; the command does the work in between."""

from __future__ import annotations

import csv
import html
import io
import json
import numbers
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _command
from ._progress import Progress
from ._views import View, Views, collect, write

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # numpy is enough
    from ._plain import BaseEstimator, ClusterMixin, NotFittedError  # type: ignore[assignment]

#: What fit and predict take: see MVClust.fit.
Data = Any

# The files of a result, in the command's own words.
_MODEL, _LABELS, _LEVELS, _RUN, _REPORT = "model.mvclust", "labels.csv", "levels.csv", "run.json", "report.html"

# A longer report, in characters, is not put into a notebook, which would keep it in every copy.
_MOST_SHOWN = 8_000_000

# The flags in the command's sentences, and the parameters that set them.
_FLAGS = {
    "--neighbors": "neighbours",
    "--metric": "metrics",
    "--preset": "preset",
    "--param": "params",
    "--memory": "memory",
    "--fill": "fill",
    "--seed": "random_state",
    "--threads": "n_jobs",
    "--must-link": "must_link",
    "--cannot-link": "cannot_link",
    "--distinct": "distinct",
    "--truth": "truth",
    "--clusters": "n_clusters",
    "--examples": "examples",
    "--level": "level",
}


class Assignment(NamedTuple):
    """The clusters of new samples, as ``MVClust.assign`` returns them.

    Attributes
    ----------
    labels : int array of shape (n_samples,)
        The cluster of every sample, or -1 for one that belongs to none.
    confidence : float array of shape (n_samples,)
        How sure the label is, from 0 to 1.
    next : int array of shape (n_samples,)
        The second best cluster, or -1.
    typicality : float array of shape (n_samples,)
        The share of the fitted samples whose links are as weak.
    """

    labels: np.ndarray
    confidence: np.ndarray
    next: np.ndarray
    typicality: np.ndarray


class Explanation(dict):  # type: ignore[type-arg]
    """Why samples are where they are: the command's figures, which print as its text."""

    def __init__(self, figures: Mapping[str, Any], text: str) -> None:
        super().__init__(figures)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return Explanation, (dict(self), self.text)


class MVClust(ClusterMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Cluster samples that are described in one view or several.

    Nothing needs to be set: the number of clusters follows from the data, views that agree with
    no other are left out, and samples may lack some of their views.

    Parameters
    ----------
    preset : {"auto", "paper"}, default="auto"
        The settings to start from: ``"auto"`` adapts to the data, ``"paper"`` is the published
        method.
    neighbours : int, default=None
        K, the number of most probable neighbours that a sample is compared by; the best value is
        near the size of the classes. None chooses it from the data, or with
        ``preset="paper"`` takes 20.
    n_clusters : int, default=None
        How many clusters there are to be, exactly. None has it follow from the data.
    resolution : float, default=None
        The higher, the more and the smaller the clusters. None chooses it from the data.
    metrics : str or list of str, default="cosine"
        ``"cosine"``, ``"l1"``, ``"l2"`` or ``"l3"``: one for all views, or one for each.
    params : dict, default=None
        Any other setting of the method, by the names that ``mvclust fit --help`` lists for
        ``--param``, such as ``{"scale": "minmax"}``. True stands for on, False for off.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds all random choices. None stands for 0: two fits of the same data agree.
    n_jobs : int, default=None
        How many processors to use. None and -1 stand for all. It does not change the result.
    memory : str, default=None
        What the run may take, such as ``"8GiB"``; one that needs more is refused before it
        starts. None stands for all that the machine has.
    fill : {"mean", "median", "zero"}, default=None
        What takes the place of single missing values, by the column. None makes them an error.
    progress : bool, default=None
        Whether to show progress. None shows it in a terminal and in a notebook.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The cluster of every sample, numbered from 0 by falling size.
    confidence_ : float array of shape (n_samples,)
        How sure every label is, from 0 to 1, with six decimals.
    n_clusters_ : int
        The number of clusters.
    levels_ : int array of shape (n_samples, n_levels)
        The labels at every granularity that the data support, coarse to fine. There are no
        levels with ``preset="paper"``.
    level_ : int
        Which of the levels ``labels_`` is, or -1. ``run_["levels"]`` says more of each, and
        ``cut`` makes another the current one.
    cluster_names_ : dict of int to str
        The labels of the examples, by the cluster that each of them rules.
    ids_ : list of length n_samples, or None
        The labels of the rows, where the data were data frames with an index. All other arrays
        are in their order.
    view_names_ : list of str
        The names of the views.
    n_features_in_ : int
        The number of features of all views together.
    feature_names_in_ : array of str of shape (n_features_in_,)
        The names of the features. Only there if the data were one data frame of numbers.
    scores_ : dict, or None
        Scores against the known classes, from 0 to 1, if ``fit`` was given any.
    notes_ : list of str
        The choices that were made for you.
    run_ : dict
        What was read, every setting, everything that was tried, and times: the command's
        ``run.json``.
    report_ : str
        The report as a page of HTML.
    files_ : dict of str to bytes
        The files that the command has written, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from mvclust import MVClust
    >>> rng = np.random.default_rng(0)
    >>> classes = np.repeat([0, 1, 2], 50)
    >>> images = rng.normal(size=(150, 10)) + 3 * rng.normal(size=(3, 10))[classes]
    >>> texts = rng.normal(size=(150, 20)) + 3 * rng.normal(size=(3, 20))[classes]
    >>> MVClust().fit([images, texts]).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        preset: str = "auto",
        neighbours: Optional[int] = None,
        n_clusters: Optional[int] = None,
        resolution: Optional[float] = None,
        metrics: Union[str, Sequence[str]] = "cosine",
        params: Optional[Mapping[str, Any]] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        memory: Optional[str] = None,
        fill: Optional[str] = None,
        progress: Optional[bool] = None,
    ) -> None:
        self.preset = preset
        self.neighbours = neighbours
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.metrics = metrics
        self.params = params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.fill = fill
        self.progress = progress

    def fit(
        self,
        X: Data,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        distinct: Any = None,
        examples: Any = None,
        truth: Any = None,
    ) -> "MVClust":
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or a list \
or dict of them
            One view, or a list of views, or a dict of views by their names. Row i is the same
            sample in every view; a row of NaN says that the sample lacks the view. Of a data
            frame, every column of lists of numbers is a view, null where a sample lacks it; if
            there is none, all columns are one view. Several data frames are joined by their
            indexes: a sample lacks the views whose index does not have it.
        y : Ignored
            Present by convention.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of samples that belong together, or that do not: rows counted from 0, or ids
            where the samples have ids. All are honoured.
        distinct : array-like of shape (n_samples,), default=None
            Groups: samples of the same value are never together. None and NaN are no group.
        examples : dict of samples to labels, default=None
            A few samples whose classes are known, labels of any text: they choose how fine the
            clusters are, are then together by label, and apart, and name their clusters.
        truth : array-like of shape (n_samples,), default=None
            The known classes, used for ``scores_`` and the report alone.

        Returns
        -------
        self : MVClust

        Raises
        ------
        ValueError
            If the data or the settings cannot be used; it says which and why.
        """
        found = collect(X)
        _check_fit(found.views)
        with self._folder() as folder:
            files = [str(name) for name in write(found.views, folder)]
            arguments = ["fit", *self._settings()]
            if found.ids is not None:
                texts = _ids(found.ids)
                np.save(os.path.join(folder, ".ids.npy"), np.asarray(texts))
                arguments += ["--id", ".ids.npy"]
            samples = len(found.ids) if found.ids is not None else found.views[0].rows.shape[0]
            arguments += _constraints(folder, samples, found.ids, must_link, cannot_link, distinct)
            arguments += _examples(folder, samples, found.ids, examples)
            if truth is not None:
                _vector(folder, "truth", truth, samples)
                arguments += ["--truth", ".truth"]
            with Progress(self.progress) as show:
                _command.run([*arguments, "--output", ".out", "--", *files], folder, show)
            self._set(_files(os.path.join(folder, ".out")))
        self._set_views(found)
        return self

    def _set(self, files: dict[str, bytes]) -> None:
        """Set the attributes from the files of the result."""
        table = _table(files[_LABELS])
        self.files_ = files
        self.run_ = json.loads(files[_RUN])
        self.labels_ = np.asarray(table["label"], dtype=np.intp)
        self.confidence_ = np.asarray(table["confidence"], dtype=np.float64)
        self.n_clusters_ = int(self.run_["clusters"])
        levels = [column for name, column in _table(files[_LEVELS]).items() if name != "id"] if _LEVELS in files else []
        self.levels_ = np.asarray(levels, dtype=np.intp).reshape(len(levels), len(self.labels_)).T
        self.level_ = int(self.run_.get("level", -1))
        self.scores_ = self.run_.get("scores")
        self.notes_ = self.run_["notes"]
        self.cluster_names_ = {cluster: name for cluster, name in enumerate(self.run_.get("names") or []) if name}

    def _set_views(self, found: Views) -> None:
        """Set the attributes from the data."""
        self.ids_ = found.ids
        self.view_names_ = [view.name for view in found.views]
        self._named = found.named
        self._features = [(view.rows.shape[1], view.columns) for view in found.views]
        self.n_features_in_ = sum(count for count, _ in self._features)
        if len(found.views) == 1 and found.views[0].columns is not None:
            self.feature_names_in_ = found.views[0].columns
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def fit_predict(self, X: Data, y: Any = None, **constraints: Any) -> np.ndarray:
        """Find the clusters and return the labels.

        Parameters
        ----------
        X : as for fit
        y : Ignored
            Present by convention.
        **constraints : as for fit

        Returns
        -------
        labels : int array of shape (n_samples,)
        """
        return self.fit(X, **constraints).labels_

    def cut(
        self, level: Union[int, str, None] = None, *, n_clusters: Optional[int] = None, examples: Any = None
    ) -> "MVClust":
        """Make another granularity the current one, without computing it again.

        All attributes, ``predict``, ``explain`` and ``suggest`` then speak of it. Scores are
        left out.

        Parameters
        ----------
        level : int, "coarser" or "finer", default=None
            One of ``levels_``, or the next to the current one.
        n_clusters : int, default=None
            Exactly so many clusters: those of the nearest level are merged, or split.
        examples : as for fit
            They choose the level.

        Returns
        -------
        self : MVClust

        Raises
        ------
        ValueError
            If there is no such level, or if nothing or two things are asked for.
        """
        self._check_is_fitted()
        with self._folder() as folder:
            self.save(os.path.join(folder, ".out"))
            arguments = ["cut", ".out", *_threads(self.n_jobs), "--quiet"]
            if level in ("coarser", "finer"):
                arguments.append(f"--{level}")
            elif level is not None:
                arguments.append(f"--level={level}")
            if n_clusters is not None:
                arguments.append(f"--clusters={n_clusters}")
            _command.run([*arguments, *_examples(folder, len(self.labels_), self.ids_, examples)], folder)
            self._set(_files(os.path.join(folder, ".out")))
        return self

    def predict(self, X: Data) -> np.ndarray:
        """Return the clusters of new samples.

        Parameters
        ----------
        X : as for fit
            The views of the new samples: by name where the fitted views have names, as in a dict
            or in columns of lists, and otherwise by their order. A view that a dict does not
            have, or that is None, is missing for all samples. The samples of the fit get the
            labels that they have.

        Returns
        -------
        labels : int array of shape (n_samples,)
            -1 for a sample that belongs to no cluster.
        """
        return self.assign(X).labels

    def assign(self, X: Data) -> Assignment:
        """Return the clusters of new samples with what is known of each.

        Parameters
        ----------
        X : as for predict

        Returns
        -------
        assignment : Assignment
            Arrays of shape (n_samples,): labels, confidence, next, typicality.
        """
        self._check_is_fitted()
        found = collect(X, self.view_names_)
        numbers_ = self._match(found)
        with self._folder(_MODEL) as folder:
            files = write(found.views, folder)
            sources = [f"{number}={name}" for number, name in zip(numbers_, files) if name is not None]
            if not sources:
                raise ValueError("there is no view: all are None; give at least one")
            arguments = ["predict", *_threads(self.n_jobs), "--quiet", "--output", ".out", "--", _MODEL, *sources]
            _command.run(arguments, folder)
            table = _table(_read(os.path.join(folder, ".out", "predictions.csv")))
        return Assignment(
            np.asarray(table["label"], dtype=np.intp),
            np.asarray(table["confidence"], dtype=np.float64),
            np.asarray(table["next"], dtype=np.intp),
            np.asarray(table["typicality"], dtype=np.float64),
        )

    def explain(self, i: Any, j: Any = None) -> Explanation:
        """Say why a sample is in its cluster, or how two samples are related.

        Parameters
        ----------
        i, j : int, or the ids of samples
            Rows counted from 0, or ids where the samples have ids.

        Returns
        -------
        explanation : Explanation
            A dict of all figures. It prints as a text.
        """
        self._check_is_fitted()
        samples = [i] if j is None else [i, j]
        rows = _rows("explain", samples, len(self.labels_), self.ids_)
        names = [str(row if self.ids_ is None else self.ids_[row]) for row in rows]
        with self._folder(_MODEL) as folder:
            figures = _command.run(["explain", "--json", "--", _MODEL, *names], folder)
            text = _command.run(["explain", "--", _MODEL, *names], folder)
        return Explanation(json.loads(figures), text.rstrip("\n"))

    def suggest(self, top: int = 10) -> dict[str, Any]:
        """List where the clustering is least certain.

        Parameters
        ----------
        top : int, default=10
            How many suggestions of each kind.

        Returns
        -------
        suggestions : dict
            Clusters that may be one, clusters that may be two, and the pairs of samples that are
            most worth asking a person about.
        """
        self._check_is_fitted()
        with self._folder(_MODEL) as folder:
            return dict(json.loads(_command.run(["suggest", "--json", "--top", str(top), "--", _MODEL], folder)))

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Write the files of the result to a folder, which the command can read.

        Parameters
        ----------
        folder : path
            Made where it does not exist.
        """
        self._check_is_fitted()
        os.makedirs(folder, exist_ok=True)
        for name, content in self.files_.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)

    @property
    def report_(self) -> str:
        """The report as a page of HTML."""
        self._check_is_fitted()
        return self.files_[_REPORT].decode("utf-8")

    @contextmanager
    def _folder(self, *files: str) -> Iterator[str]:
        """Make a temporary folder with files of the result, which is removed in the end.

        Errors name parameters in place of the command's flags.
        """
        with tempfile.TemporaryDirectory(prefix="mvclust-") as folder:
            for name in files:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(self.files_[name])
            try:
                yield folder
            except ValueError as error:
                raise ValueError(_translate(str(error))) from None

    def _settings(self) -> list[str]:
        """Return the flags of fit that the parameters stand for."""
        metrics = self.metrics if isinstance(self.metrics, str) else ",".join(self.metrics)
        flags = [f"--preset={self.preset}", f"--metric={metrics}", f"--seed={_seed(self.random_state)}"]
        if self.neighbours is not None:
            flags.append(f"--neighbors={self.neighbours}")
        if self.n_clusters is not None:
            flags.append(f"--clusters={self.n_clusters}")
        if self.memory is not None:
            flags.append(f"--memory={self.memory}")
        if self.fill is not None:
            flags.append(f"--fill={self.fill}")
        params = dict(self.params or {})
        if self.resolution is not None:
            params["resolution"] = self.resolution
        for name, value in params.items():
            text = ("off", "on")[value] if isinstance(value, (bool, np.bool_)) else value
            flags.append(f"--param={name}={text}")
        return [*flags, *_threads(self.n_jobs), "--json", "--progress-json"]

    def _match(self, found: Views) -> list[int]:
        """Return the number of the fitted view that each of the views is."""
        if found.named and self._named:
            numbers_ = []
            for view in found.views:
                if view.name not in self.view_names_:
                    raise ValueError(f"there is no view {view.name!r}; the views are {', '.join(map(repr, self.view_names_))}")
                numbers_.append(self.view_names_.index(view.name))
        elif len(found.views) == len(self.view_names_):
            numbers_ = list(range(len(found.views)))
        else:
            raise ValueError(
                f"there are {len(found.views)} views, and {len(self.view_names_)} were fitted; "
                "give as many, None for one that all samples lack"
            )
        for number, view in zip(numbers_, found.views):
            self._check_features(view, *self._features[number])
        return numbers_

    def _check_features(self, view: View, count: int, names: Optional[np.ndarray]) -> None:
        """Report an error where a view has other features than the fitted one."""
        if view.rows is None:
            return
        if names is not None and view.columns is not None and list(names) != list(view.columns):
            raise ValueError(
                "The feature names should match those that were passed during fit: "
                f"{view.name} has {', '.join(map(str, view.columns[:5]))}, ..., and had {', '.join(map(str, names[:5]))}, ..."
            )
        if view.rows.shape[1] != count:
            raise ValueError(
                f"X has {view.rows.shape[1]} features, but {type(self).__name__} is expecting {count} features as input ({view.name})"
            )
        if (names is None) != (view.columns is None):
            have, had = ("does not have", "was") if view.columns is None else ("has", "was not")
            warnings.warn(f"X {have} valid feature names, but {type(self).__name__} {had} fitted with feature names", stacklevel=4)

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet; call fit first.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["2darray", "sparse"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _repr_html_(self) -> str:
        """Return the report for a notebook, or before a fit the parameters."""
        if not self.__sklearn_is_fitted__():
            return f"<pre>{html.escape(repr(self))}</pre>"
        page = self.report_
        if len(page) > _MOST_SHOWN:
            return (
                f"<p>{len(self.labels_):,} samples in {self.n_clusters_:,} clusters. The report has {len(page) / 1e6:.0f} MB, "
                "too much for a notebook: <code>save(folder)</code> writes it.</p>"
            )
        return (
            '<iframe title="The report of mvclust" sandbox="allow-scripts" '
            'style="width: 100%; height: 40rem; max-height: 85vh; border: 1px solid #8886" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _translate(sentence: str) -> str:
    """Return a sentence of the command in the words of Python."""
    for flag, parameter in _FLAGS.items():
        sentence = sentence.replace(flag, parameter)
    sentence = re.sub(r"\.(must_link|cannot_link|examples)\.csv\b|\.(distinct|truth)\b", r"\1\2", sentence)
    return re.sub(r"\bholds \+?(-?)Inf\b", r"holds \1inf", sentence)


def _check_fit(views: Sequence[View]) -> None:
    """Report an error where there is nothing to cluster."""
    for view in views:
        if view.rows is None:
            raise ValueError(f"{view.name}: the view is None; leave it out")
        if view.rows.shape[0] < 3:
            raise ValueError(
                f"{view.name}: {view.rows.shape[0]} sample(s) (shape={view.rows.shape}) while a minimum of 3 is required to cluster."
            )


def _seed(state: Any) -> int:
    """Return the seed that a random state stands for."""
    if state is None:
        return 0
    if isinstance(state, numbers.Integral):
        return int(state)
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31 - 1))
    raise ValueError(f"random_state: {state!r} cannot be used to seed; give a whole number, a RandomState or a Generator")


def _threads(n_jobs: Optional[int]) -> list[str]:
    """Return the flag for a number of processors, counted from the last where it is below 0."""
    if n_jobs is None or n_jobs == -1:
        return []
    if n_jobs < 0:
        n_jobs = max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return [f"--threads={n_jobs}"]


def _ids(ids: Sequence[Any]) -> list[str]:
    """Return ids as the command reads them."""
    texts = [str(i).strip() for i in ids]
    if len(set(texts)) < len(texts) or "" in texts:
        raise ValueError("the index holds labels that are empty or the same as text; make them distinct")
    return texts


def _rows(what: str, samples: Any, count: int, ids: Optional[Sequence[Any]]) -> list[int]:
    """Return the rows of samples that are given as rows or ids."""
    if ids is not None:
        place = {label: row for row, label in enumerate(ids)}
    rows = []
    for sample in samples:
        if ids is not None:
            row = place.get(sample)
        else:
            row = int(sample) if isinstance(sample, numbers.Integral) and 0 <= sample < count else None
        if row is None:
            named = "name an id of the index" if ids is not None else f"name a row from 0 to {count - 1}"
            raise ValueError(f"{what}: there is no sample {sample!r}; {named}")
        rows.append(row)
    return rows


def _constraints(
    folder: str, samples: int, ids: Optional[Sequence[Any]], must_link: Any, cannot_link: Any, distinct: Any
) -> list[str]:
    """Write the constraints to files and return the flags that name them."""
    flags = []
    for name, pairs in (("must_link", must_link), ("cannot_link", cannot_link)):
        pairs = [] if pairs is None else [list(pair) for pair in pairs]
        if not pairs:
            continue
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{name}: a pair has two samples; give an array of shape (n_pairs, 2)")
        rows = _rows(name, [sample for pair in pairs for sample in pair], samples, ids)
        texts = [str(row if ids is None else ids[row]) for row in rows]
        file_name = f".{name}.csv"
        with open(os.path.join(folder, file_name), "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(zip(texts[::2], texts[1::2]))
        flags += [f"--{name.replace('_', '-')}", file_name]
    if distinct is not None:
        codes: dict[Any, int] = {}
        groups = ["" if g is None or g != g else str(codes.setdefault(g, len(codes))) for g in distinct]
        _vector(folder, "distinct", groups, samples)
        flags += ["--distinct", ".distinct"]
    return flags


def _examples(folder: str, samples: int, ids: Optional[Sequence[Any]], examples: Any) -> list[str]:
    """Write the examples to a file and return the flag that names it."""
    if examples is None:
        return []
    pairs = list(dict(examples).items())
    rows = _rows("examples", [sample for sample, _ in pairs], samples, ids)
    with open(os.path.join(folder, ".examples.csv"), "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label"])
        table.writerows((row if ids is None else ids[row], label) for row, (_, label) in zip(rows, pairs))
    return ["--examples", ".examples.csv"]


def _files(folder: str) -> dict[str, bytes]:
    """Return the files of a result by their names."""
    return {name: _read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if not name.startswith(".")}


def _vector(folder: str, name: str, values: Any, samples: int) -> None:
    """Write one value per sample to a hidden file, which no view can be called like."""
    array = np.asarray(values)
    if array.shape != (samples,):
        raise ValueError(f"{name}: its shape is {array.shape}; give one value for each of the {samples} samples")
    if array.dtype.kind not in "biufU":
        array = array.astype(str)
    with open(os.path.join(folder, "." + name), "wb") as file:
        np.save(file, array, allow_pickle=False)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _table(content: bytes) -> dict[str, list[str]]:
    """Return the columns of a table of comma-separated cells by their names."""
    rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    header = next(rows)
    return dict(zip(header, map(list, zip(*rows))))
