#!/usr/bin/env python3
"""Fits engine/search's hybridWeights on what internal/fitfiles wrote.

    scripts/fit-files.py FEATURES...

Pairwise logistic regression: a right file against each of the 30 wrong ones that
score highest, twice, with signs that are given and an L2 penalty in units of the
features' spread. A suite counts by WEIGHT. The vectors' and the content's features
are scaled as ranking.weights does; what is set by hand (penalties, scope, the best
passage's share) stays as it is. Printed are file NDCG@10 by suite (mean over
projects): with each project left out in its turn, and fitted on all; then the
weights. Needs numpy and scipy.
"""
import sys

import numpy as np
from scipy.optimize import minimize

from fitfeatures import load

WEIGHT = {"semble": 1, "commits": 3, "cosqa": 0.7}
HARD, ROUNDS = 30, 2
LAMBDA, LEAST_SPREAD = 1e-2, 1e-3
# engine/search/weights.go and answerWeight.
BY_HAND = {
    "pathNamed": 8, "test": -4, "legacy": -1.65, "tooling": -1.9, "reexport": -0.1, "example": -1.7, "docs": -1, "generated": -1.5, "vendored": -1.9, "markdown": -2,
    "changelog": -2, "data": -1.8, "aside": -2, "language": 0.5, "kind": 0.8, "wanted": 2, "scope": 1.4, "scopeNear": 1.4, "titleTopZ": 0.6, "answer": 0.3,
}
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
    w = np.array([BY_HAND.get(n, START.get(n, 0.0)) for n in names])
    fixed = np.array([BY_HAND.get(n, 0.0) for n in names])
    for _ in range(ROUNDS):
        rows, weights = [], []
        for q in questions:
            if not q["right"].any() or q["right"].all():
                continue
            wrong = np.where(~q["right"])[0]
            wrong = wrong[np.argsort(-(q["x"][wrong] @ w))[:HARD]]
            d = (q["x"][q["right"]][:, None] - q["x"][wrong][None]).reshape(-1, len(names))
            rows.append(d)
            weights.append(np.full(len(d), WEIGHT.get(q["suite"], 1) / len(d)))
        a, b = np.concatenate(rows), np.concatenate(weights)
        b /= b.sum()
        by_hand, a = a @ fixed, a[:, use]
        ridge = LAMBDA * (a.std(0) + LEAST_SPREAD) ** 2

        def loss(v):
            m = by_hand + a @ v
            p = -1 / (1 + np.exp(np.clip(m, -40, 40)))
            return (b * np.logaddexp(0, -m)).sum() + (ridge * v * v).sum(), a.T @ (b * p) + 2 * ridge * v

        found = minimize(loss, w[use], jac=True, bounds=[bounds[i] for i in use], method="L-BFGS-B", options={"maxiter": 300})
        w = fixed.copy()
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
    bounds = [(None, None) if n == "logChunks" else (0, None) for n in names]
    use = [i for i, n in enumerate(names) if not n.startswith("slow") and n not in BY_HAND]
    scores = np.zeros(len(questions))
    for project in sorted({q["project"] for q in questions}):
        w = fit([q for q in questions if q["project"] != project], names, use, bounds)
        for i, q in enumerate(questions):
            if q["project"] == project:
                scores[i] = ndcg(q, w)
    print("left out: ", report(questions, scores))
    w = fit(questions, names, use, bounds)
    print("on all:   ", report(questions, [ndcg(q, w) for q in questions]))
    print(" ".join(f"{n}={v:.2f}" for n, v in zip(names, w) if abs(v) > 0.04))


if __name__ == "__main__":
    main()
