"""Retrieval quality on sources that were kept back: for each documented declaration,
at which place its code is found among those of the same source."""

import numpy as np

from . import pairs

_MOST = 1000  # questions of one source
_FEWEST = 60


def held_back(bags, names, spelling, seed=1):
    """What to measure on: (source, questions, codes) as bags of pieces, one question
    for each documented declaration of the named sources."""
    rng = np.random.default_rng(seed)
    found = []
    for number, name in enumerate(bags.sources):
        if name not in names:
            continue
        rows = np.flatnonzero((bags.source == number) & (bags.kind == pairs.KINDS.index("doc")))
        rows = rows[np.sort(np.unique(bags.same[rows], return_index=True)[1])]
        if len(rows) >= _FEWEST:
            rows = rng.permutation(rows)[:_MOST]
            found.append((name, bags.views["sentence"][rows] @ spelling, bags.views["code"][rows] @ spelling))
    return found


def embed(counts, rows, alpha):
    """Unit vectors of bags of pieces, as the Go program makes them."""
    counts = counts.copy()
    counts.data **= alpha
    vectors = counts @ rows
    return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def mrr(rows, alpha, held):
    """The mean reciprocal rank at 10 of each source."""
    result = {}
    for name, questions, codes in held:
        scores = embed(questions, rows, alpha) @ embed(codes, rows, alpha).T
        rank = (scores > np.diag(scores)[:, None]).sum(1) + 1
        result[name] = float(np.where(rank <= 10, 1 / rank, 0).mean())
    return result


def mean(result):
    return float(np.mean(list(result.values()))) if result else 0.0
