#!/usr/bin/env python3
"""Fits engine/search's hybridWeights on what internal/fitfiles wrote.

    scripts/fit-files.py FEATURES...

Pairwise logistic regression: a right file against each of the 30 wrong ones that
score highest, twice, with an L2 penalty and signs that are given. A suite counts
by WEIGHT. The vectors' and the content's features are scaled as ranking.weights
does. Printed are file NDCG@10 by suite (mean over projects): with an eighth of
the projects left out in turn, fitted on all, and with the penalties that are set
by hand; then the weights. Needs numpy and scipy.
"""
import sys

import numpy as np
from scipy.optimize import minimize

from fitfeatures import load

WEIGHT = {"semble": 1, "commits": 3, "cosqa": 0.7}
FOLDS, HARD, LAMBDA, ROUNDS = 8, 30, 1e-4, 2
PENALTIES = {"changelog", "test", "reexport", "example", "docs", "generated", "vendored", "markdown", "data", "legacy", "tooling"}
BY_HAND = {"test": -4, "markdown": -2, "data": -1.8}
# Weights to begin with; the hardest wrong files are chosen by them at first.
START = {
    "lexMax": 0.9, "lexTop": 2.1, "vecMax": 4.5, "vecRaw": 6, "dirQ": 1.5, "baseQ": 1.35, "baseCover": 0.9, "basePrefix": 0.45,
    "defExact": 1.8, "defCapital": 0.9, "defOverlap": 0.45, "test": -2.25, "reexport": -0.66, "example": -1.8, "docs": -1.8,
    "markdown": -1.8, "generated": -1.5, "vendored": -1.5, "data": -1.5, "pathNamed": 9, "vecPath": 3,
}
GAIN = 1 / np.log2(np.arange(10) + 2)


def prepare(q, names):
    """Labels, and features as ranking.weights scales them."""
    rows = np.array(q.pop("rows")) if q["rows"] else np.zeros((0, len(names) + 1))
    q["right"], q["x"] = rows[:, 0] == 1, rows[:, 1:]
    if len(rows) == 0:
        return
    mute = min(1, max(0, (0.6 - q["x"][:, names.index("vecPath")].max()) / 0.35))
    for i, n in enumerate(names):
        if n.startswith("vec"):
            q["x"][:, i] *= 1 - 0.9 * mute
        elif n.startswith("content"):
            q["x"][:, i] *= mute


def ndcg(q, w):
    got = q["right"][np.argsort(-(q["x"] @ w), kind="stable")[:10]]
    return (got * GAIN[: len(got)]).sum() / GAIN[: min(10, q["n"])].sum()


def fit(questions, names, use, bounds):
    w = np.array([START.get(n, 0.0) for n in names])
    for _ in range(ROUNDS):
        rows, weights = [], []
        for q in questions:
            if not q["right"].any() or q["right"].all():
                continue
            wrong = np.where(~q["right"])[0]
            wrong = wrong[np.argsort(-(q["x"][wrong] @ w))[:HARD]]
            d = (q["x"][q["right"]][:, None] - q["x"][wrong][None]).reshape(-1, len(names))
            rows.append(d[:, use])
            weights.append(np.full(len(d), WEIGHT.get(q["suite"], 1) / len(d)))
        a, b = np.concatenate(rows), np.concatenate(weights)
        b /= b.sum()

        def loss(v):
            m = a @ v
            p = -1 / (1 + np.exp(np.clip(m, -40, 40)))
            return (b * np.logaddexp(0, -m)).sum() + LAMBDA * (v @ v), a.T @ (b * p) + 2 * LAMBDA * v

        found = minimize(loss, w[use], jac=True, bounds=[bounds[i] for i in use], method="L-BFGS-B", options={"maxiter": 300})
        w = np.zeros(len(names))
        w[use] = found.x
    return w


def report(questions, scores):
    by = {}
    for q, s in zip(questions, scores):
        by.setdefault(q["suite"], {}).setdefault(q["project"], []).append(s)
    return "  ".join(f"{suite} {np.mean([np.mean(v) for v in projects.values()]):.4f}" for suite, projects in sorted(by.items()))


def main():
    names, questions = load(sys.argv[1:])
    for q in questions:
        prepare(q, names)
    bounds = [(None, 0) if n in PENALTIES else (None, None) if n == "logChunks" else (0, None) for n in names]
    use = [i for i, n in enumerate(names) if not n.startswith("slow")]
    projects = sorted({q["project"] for q in questions})
    np.random.RandomState(0).shuffle(projects)
    fold = {p: i % FOLDS for i, p in enumerate(projects)}
    scores = np.zeros(len(questions))
    for k in range(FOLDS):
        w = fit([q for q in questions if fold[q["project"]] != k], names, use, bounds)
        for i, q in enumerate(questions):
            if fold[q["project"]] == k:
                scores[i] = ndcg(q, w)
    print("left out: ", report(questions, scores))
    w = fit(questions, names, use, bounds)
    print("on all:   ", report(questions, [ndcg(q, w) for q in questions]))
    for n, v in BY_HAND.items():
        w[names.index(n)] = max(v, w[names.index(n)])
    print("penalties:", report(questions, [ndcg(q, w) for q in questions]))
    print(" ".join(f"{n}={v:.2f}" for n, v in zip(names, w) if abs(v) > 0.04))


if __name__ == "__main__":
    main()
