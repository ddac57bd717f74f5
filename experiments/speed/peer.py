"""Runs and times what others offer: one task, which the only argument describes in
JSON; the answer is a line of JSON. Only the work itself is timed, after a small one of
the same kind that loads code and starts threads."""

import importlib
import json
import sys
import time

request = json.loads(sys.argv[1])


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def modules():
    versions = {}
    for name in request["modules"]:
        try:
            versions[name] = importlib.import_module(name).__version__
        except Exception:
            pass
    return versions


def rows():
    """The rows of every array that is asked for, of unit length."""
    import numpy

    file = numpy.load(request["file"])
    for x in [file[name] for name in request["arrays"]] if request.get("arrays") else [file]:
        x = numpy.ascontiguousarray(x, dtype=numpy.float32)
        yield x / numpy.linalg.norm(x, axis=1, keepdims=True)


def product():
    """Billions of operations a second of matrix products, by dimensions."""
    import numpy

    speeds = []
    for dims in request["dims"]:
        a = numpy.random.default_rng(0).standard_normal((1024, dims), dtype=numpy.float32)
        b = numpy.ascontiguousarray(a[::-1])  # a times itself would be half the work
        c = numpy.empty((1024, 1024), numpy.float32)
        numpy.dot(a, b.T, out=c)
        count, start = 0, time.perf_counter()
        while True:
            numpy.dot(a, b.T, out=c)
            count += 1
            seconds = time.perf_counter() - start
            if seconds >= request["seconds"]:
                break
        speeds.append(2 * 1024 * 1024 * dims * count / seconds / 1e9)
    return {"speeds": speeds}


def flat():
    """Exact neighbours by faiss, of all arrays one after the other."""
    import faiss

    faiss.omp_set_num_threads(request["threads"])

    def search(x, neighbours):
        index = faiss.IndexFlatIP(x.shape[1])
        index.add(x)
        return index.search(x, neighbours + 1)[1]  # a row is its own neighbour

    total = 0.0
    for x in rows():
        search(x[:500], 1)
        seconds, found = timed(lambda: search(x, request["neighbours"]))
        total += seconds
    if request.get("output"):
        found.astype("<i8").tofile(request["output"])
    return {"seconds": total}


def brute():
    """Exact neighbours by scikit-learn. Euclidean, since on rows of unit length that
    gives the same neighbours as the cosine, and faster."""
    from sklearn.neighbors import NearestNeighbors

    def search(x, neighbours):
        index = NearestNeighbors(n_neighbors=neighbours, algorithm="brute", n_jobs=request["threads"])
        return index.fit(x).kneighbors(return_distance=False)

    total = 0.0
    for x in rows():
        search(x[:500], 1)
        total += timed(lambda: search(x, request["neighbours"]))[0]
    return {"seconds": total}


def spectral():
    """The labels that spectral clustering gives to the nodes of a graph."""
    import numpy
    from scipy.sparse import csr_matrix
    from sklearn.cluster import SpectralClustering

    g = numpy.load(request["file"])
    n = len(g["offsets"]) - 1
    graph = csr_matrix((g["weight"].astype(numpy.float64), g["index"], g["offsets"]), shape=(n, n))
    method = SpectralClustering(request["clusters"], affinity="precomputed", random_state=0, n_jobs=request["threads"])
    return {"labels": method.fit_predict(graph).tolist()}


tasks = {f.__name__: f for f in (modules, product, flat, brute, spectral)}
print(json.dumps(tasks[request["task"]]()))
