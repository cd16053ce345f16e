#!/usr/bin/env python3
"""Fits engine/search's miniLMWeights, with its other weights held.

    scripts/fit-minilm.py WEIGHTS.json FEATURES...

FEATURES is text. Its first line names the features as search.FeatureNames
gives them, with commas. Then, for each question, a line of tabs

    #  suite  project  question's id  number of right files  category

and, for each candidate file (search.Result.Files of a search with MiniLM), a
line of blanks: 1 for a right file or 0, and the features' values. WEIGHTS.json
maps features to hybridWeights. Needs numpy and scipy; printed are file NDCG@10
by suite (mean over projects) without MiniLM, with an eighth of the projects left
out (of a suite of one project, of the questions), and fitted on all.
"""
import json
import sys

import numpy as np
from scipy.optimize import minimize

from fitfeatures import load

USE = ["slowContentMean", "slowContentFirst", "slowContentWhole", "slowContentMeanZ", "slowContentWholeZ", "slowMeanZ"]
FOLDS, HARD, LAMBDA = 8, 30, 1e-4
GAIN = 1 / np.log2(np.arange(10) + 2)


def prepare(q, names, weights):
    """The score without MiniLM, and MiniLM's features times ranking.addMiniLM's factor."""
    rows = np.array(q.pop("rows"))
    at = {n: i for i, n in enumerate(names)}
    q["right"], x = rows[:, 0] == 1, rows[:, 1:]
    mute = min(1, max(0, (0.6 - x[:, at["vecPath"]].max()) / 0.35))
    missing = 1 - min(1, x[:, at["lexCover"]].max())
    # features.go: lexLong is lexTop times how long the question is.
    long = min(1, x[:, at["lexLong"]].max() / max(x[:, at["lexTop"]].max(), 1e-9))
    w = np.array([weights.get(n, 0.0) for n in names])
    for n, i in at.items():
        if n.startswith("vec"):
            w[i] *= 1 - 0.9 * mute
        elif n.startswith("content"):
            w[i] *= mute
    q["base"] = x @ w
    q["x"] = x[:, [at[n] for n in USE]] * (mute * mute * (1 - long) * (0.5 + 2 * np.sqrt(missing)))


def ndcg(q, w):
    best = np.argsort(-(q["base"] + q["x"] @ w), kind="stable")[:10]
    right = q["right"][best]
    return (right * GAIN[: len(right)]).sum() / GAIN[: min(10, q["n"])].sum()


def report(label, questions, scores):
    suites = {}
    for q, s in zip(questions, scores):
        suites.setdefault(q["suite"], {}).setdefault(q["project"], []).append(s)
    print(label, {s: round(float(np.mean([np.mean(v) for v in p.values()])), 4) for s, p in sorted(suites.items())})


def fit(questions):
    """Pairwise logistic regression against the best wrong files, weights of 0 and up."""
    w = np.full(len(USE), 0.5)
    for _ in range(2):
        pairs, offsets, counts = [], [], []
        for q in questions:
            if not q["right"].any() or q["right"].all():
                continue
            wrong, right = np.where(~q["right"])[0], np.where(q["right"])[0]
            wrong = wrong[np.argsort(-(q["base"] + q["x"] @ w)[wrong])[:HARD]]
            pairs.append((q["x"][right][:, None] - q["x"][wrong][None]).reshape(-1, len(USE)))
            offsets.append((q["base"][right][:, None] - q["base"][wrong][None]).ravel())
            counts.append(np.full(len(offsets[-1]), 1 / len(offsets[-1])))
        a, o, c = np.concatenate(pairs), np.concatenate(offsets), np.concatenate(counts)
        c /= c.sum()

        def loss(v):
            margin = o + a @ v
            slope = -1 / (1 + np.exp(np.clip(margin, -40, 40)))
            return (c * np.logaddexp(0, -margin)).sum() + LAMBDA * (v @ v), a.T @ (c * slope) + 2 * LAMBDA * v

        w = minimize(loss, w, jac=True, bounds=[(0, None)] * len(USE), method="L-BFGS-B").x
    return w


def folds(questions):
    rng = np.random.RandomState(1)
    projects = {}
    for q in questions:
        projects.setdefault(q["suite"], set()).add(q["project"])
    # A project is left out whole, and from all suites at once.
    units = sorted({(q["project"], q["id"] if len(projects[q["suite"]]) == 1 else "") for q in questions})
    place = {units[j]: i % FOLDS for i, j in enumerate(rng.permutation(len(units)))}
    return [place[(q["project"], q["id"] if len(projects[q["suite"]]) == 1 else "")] for q in questions]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        weights = json.load(f)
    names, questions = load(sys.argv[2:])
    questions = [q for q in questions if q["rows"]]
    for q in questions:
        prepare(q, names, weights)
    fold = folds(questions)
    report("without ", questions, [ndcg(q, np.zeros(len(USE))) for q in questions])
    scores = np.zeros(len(questions))
    for k in range(FOLDS):
        w = fit([q for q, f in zip(questions, fold) if f != k])
        for i, q in enumerate(questions):
            if fold[i] == k:
                scores[i] = ndcg(q, w)
    report("left out", questions, scores)
    w = fit(questions)
    report("fitted  ", questions, [ndcg(q, w) for q in questions])
    print(dict(zip(USE, w.round(2).tolist())))


if __name__ == "__main__":
    main()
