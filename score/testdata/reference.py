"""Scores a partition with scikit-learn and SciPy, as the reference for Compare.

Reads lines {"truth": [...], "labels": [...]} of JSON from standard input and
writes, for each, the pairwise precision, recall and F, NMI (arithmetic), NMI
(geometric), ARI and ACC. Pairwise scores of 0/0 come out as 1.
"""

import json
import sys

from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix


def share(part, whole):
    return part / whole if whole else 1.0


for line in sys.stdin:
    case = json.loads(line)
    truth, labels = case["truth"], case["labels"]
    (_, fp), (fn, tp) = pair_confusion_matrix(truth, labels).tolist()
    table = contingency_matrix(truth, labels)
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    nmi = (
        normalized_mutual_info_score(truth, labels, average_method=mean)
        for mean in ("arithmetic", "geometric")
    )
    scores = [
        share(tp, tp + fp),
        share(tp, tp + fn),
        share(2 * tp, 2 * tp + fp + fn),
        *nmi,
        adjusted_rand_score(truth, labels),
        matched / len(truth),
    ]
    print(json.dumps([float(x) for x in scores]))
