#!/usr/bin/env python3
"""Fits engine/search's relevance on what internal/fitpassages -relevance wrote.

    scripts/fit-relevance.py SIGNALS

Logistic regression with signs that are given: questions asked of their own
project, whose right file is among the first ten, against those asked of another
one. Suites count alike (web questions half), own and other questions too. Printed
are, by suite and with an eighth of the projects left out in turn, the area under
the curve and the share of the others that is refused where 5 % of the own are;
then the weights. Needs numpy and scipy.
"""
import sys

import numpy as np
from scipy.optimize import minimize

FOLDS, LAMBDA = 8, 1e-4
WEIGHT = {"cosqa": 0.5}
LONG = 30  # words at which length counts no more (Signals.relevance)
FREE = {"known", "length"}  # may count against


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        header, *rows = [line.rstrip("\n").split("\t") for line in lines]
    own = np.array([r[0] == "1" for r in rows])
    suite, project = (np.array([r[i] for r in rows]) for i in (1, 2))
    rank = np.array([int(r[3]) for r in rows])
    values = np.array([[float(x) for x in r[4:]] for r in rows])
    names = header[5:] + ["length"]
    length = np.clip(np.log(np.maximum(values[:, 0], 1)) / np.log(LONG), 0, 1)
    x = np.column_stack([values[:, 1:], length, np.ones(len(rows))])
    keep = ~own | (rank > 0) & (rank <= 10)
    weight = np.zeros(len(rows))
    for s in set(suite):
        for side in (True, False):
            these = (suite == s) & (own == side) & keep
            weight[these] = WEIGHT.get(s, 1) / max(these.sum(), 1)
    bounds = [(None, None) if n in FREE else (0, None) for n in names] + [(None, None)]

    def fit(mask):
        a, y, b = x[mask], np.where(own[mask], 1.0, -1.0), weight[mask]

        def loss(w):
            m = y * (a @ w)
            slope = -y / (1 + np.exp(np.clip(m, -40, 40)))
            return (b * np.logaddexp(0, -m)).sum() + LAMBDA * (w[:-1] @ w[:-1]), a.T @ (b * slope) + 2 * LAMBDA * np.append(w[:-1], 0)

        return minimize(loss, np.zeros(x.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500}).x

    projects = sorted(set(project))
    np.random.RandomState(1).shuffle(projects)
    fold = {p: i % FOLDS for i, p in enumerate(projects)}
    # A suite of one project is parted by question.
    alone = {s: len(set(project[suite == s])) == 1 for s in set(suite)}
    part = np.array([i // 3 % FOLDS if alone[s] else fold[p] for i, (s, p) in enumerate(zip(suite, project))])
    score = np.zeros(len(rows))
    for k in range(FOLDS):
        score[part == k] = x[part == k] @ fit((part != k) & keep)
    for s in sorted(set(suite)):
        mine, others = score[(suite == s) & own & keep], score[(suite == s) & ~own]
        auc = (mine[:, None] > others[None, :]).mean()
        print(f"{s:10} area under the curve {auc:.3f}  refused at 5 % lost {(others < np.quantile(mine, 0.05)).mean():.3f}")
    print(" ".join(f"{n}={w:.2f}" for n, w in zip(names + ["constant"], fit(keep))))


if __name__ == "__main__":
    main()
