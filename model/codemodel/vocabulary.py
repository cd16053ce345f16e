"""The words and word pieces that have a row in the table.

Whole words are those that most sources use, not those that occur most: a project's
own jargon fills no rows. The rest is spelled with pieces, learnt by merging the
most frequent pairs of neighbours (byte-pair encoding, Sennrich et al. 2016,
arXiv:1508.07909).
"""

import collections
import heapq
import string

import numpy as np
import scipy.sparse as sp

from .tokenizer import CONTINUES

# Each letter, so that every word can be spelled, and numbers that mean something.
_ALWAYS = (
    *string.ascii_lowercase,
    *(CONTINUES + c for c in string.ascii_lowercase),
    *map(str, (*range(129), 200, 255, 256, 404, 500, 512, 1000, 1024, 2048, 4096, 65535)),
)
_SPELLED = 60_000  # words that pieces are learnt from


def build(bags, training, words, pieces):
    """The vocabulary: up to `words` whole words and `pieces` pieces, in order of use.
    training: which pairs count, as booleans."""
    rows = np.flatnonzero(training)
    code, question = bags.views["code"][rows], bags.views["question"][rows]
    frequency = _document_frequency(code) + 3 * _document_frequency(question)
    belongs = sp.csr_matrix(
        (np.ones(len(rows), np.float32), (bags.source[rows], np.arange(len(rows)))), shape=(len(bags.sources), len(rows))
    )
    spread = _document_frequency(belongs @ (code + question))
    usable = np.array([w.isascii() and not w.isdigit() and 1 < len(w) <= 20 for w in bags.words])
    score = np.where(usable, spread * np.log1p(frequency), 0)
    order = [i for i in np.argsort(-score, kind="stable") if score[i] > 0]
    whole = [bags.words[i] for i in order[:words]]
    # Counts on a log scale: pieces are for rare words.
    spelled = {bags.words[i]: int(np.ceil(np.log2(1 + frequency[i]))) for i in order[:_SPELLED] if bags.words[i].isalpha()}
    spelled = {word: count for word, count in spelled.items() if count > 1}
    return list(dict.fromkeys([*whole, *sorted(merge_pairs(spelled, pieces)), *_ALWAYS]))


def _document_frequency(matrix):
    return np.bincount(matrix.tocsr().indices, minlength=matrix.shape[1])


def merge_pairs(counts, limit):
    """The pieces that spell the words of counts ({word: count}) best, at most limit,
    single letters included. Equal counts are merged in alphabetical order."""
    spelled = [[c if i == 0 else CONTINUES + c for i, c in enumerate(word)] for word in counts]
    weight = list(counts.values())
    pieces = {piece for word in spelled for piece in word}
    total, where = collections.Counter(), collections.defaultdict(set)
    for w, word in enumerate(spelled):
        for pair in zip(word, word[1:]):
            total[pair] += weight[w]
            where[pair].add(w)
    heap = [(-n, pair) for pair, n in total.items()]
    heapq.heapify(heap)
    while heap and len(pieces) < limit:
        n, pair = heapq.heappop(heap)
        if total[pair] != -n or n == 0:  # changed since it was pushed
            continue
        merged = pair[0] + pair[1].removeprefix(CONTINUES)
        pieces.add(merged)
        changed = set()
        for w in where.pop(pair):
            before = spelled[w]
            after = _merge(before, pair, merged)
            if len(after) == len(before):
                continue
            spelled[w] = after
            for p in zip(before, before[1:]):
                total[p] -= weight[w]
                changed.add(p)
            for p in zip(after, after[1:]):
                total[p] += weight[w]
                where[p].add(w)
                changed.add(p)
        for p in changed:
            if total[p] > 0:
                heapq.heappush(heap, (-total[p], p))
    return pieces


def _merge(word, pair, merged):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(merged)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


def spelling(words, tokenizer):
    """A matrix [words, pieces] that turns bags of words into bags of pieces."""
    row, column = [], []
    for i, word in enumerate(words):
        for piece in tokenizer.word_ids(word):
            row.append(i)
            column.append(piece)
    ones = np.ones(len(row), np.float32)
    return sp.csr_matrix((ones, (row, column)), shape=(len(words), len(tokenizer.pieces)))
