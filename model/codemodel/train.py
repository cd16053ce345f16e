"""Contrastive training of the rows.

Each question shall be nearer to its own code than to the other codes of its block,
and each code to its own question: symmetric InfoNCE (van den Oord et al. 2018,
arXiv:1807.03748) over blocks of a batch. A block is made of groups of pairs from
one source, so that most negatives are about the same matter; some groups hold
pairs whose code looks alike (`hard`), which are harder still. The loss is averaged over prefixes of
the vector (Matryoshka, Kusupati et al. 2022, arXiv:2205.13147), so that the first
64 or 128 values are of use alone. Steps are Adam's (Kingma & Ba 2015), taken
only for the rows that a batch touches.

Everything is numpy and scipy in float32: a step is two sparse products and a few
small dense ones, which no framework makes much faster on a processor.
"""

import dataclasses
import time

import numpy as np
import scipy.sparse as sp

from . import measure, pairs

# How often a pair of a kind is drawn per epoch: headings are few and good, names
# many and easy.
WEIGHTS = {
    "doc": 1.0, "testdoc": 0.4, "question": 0.5, "name": 0.5, "inline": 0.6, "module": 1.5, "path": 1.0, "heading": 1.0,
    "commit": 1.0,
}


@dataclasses.dataclass(frozen=True)
class Options:
    """batch, block, group: pairs in a step, in a set of negatives, and of one source
    within it. scale: the inverse temperature. alpha: the exponent of counts.
    whole: how often the whole question is used instead of its first sentence.
    path: how often the path's words are added to the code. hide: how often a name's
    words are taken out of its code. drop: which share of the code's words is left
    out. hard: which share of the groups is of codes that look alike. anchor: how
    strongly rows are held where they started, for continuing from a good table."""

    epochs: float = 3
    batch: int = 2048
    block: int = 512
    group: int = 128
    rate: float = 5e-3
    scale: float = 20.0
    alpha: float = 0.5
    prefixes: tuple = (64, 128, 256)
    whole: float = 0.35
    path: float = 0.6
    hide: float = 0.5
    drop: float = 0.1
    hard: float = 0.0
    anchor: float = 0.0
    seed: int = 0
    weights: dict = dataclasses.field(default_factory=lambda: dict(WEIGHTS))


def train(bags, spelling, rows, validation, options, report=print):
    """Returns the trained rows. rows: to start from, not changed. validation: names
    of sources that are measured on and not learnt from."""
    return _Training(bags, spelling, rows, validation, options, report).run()


class _Training:
    def __init__(self, bags, spelling, rows, validation, options, report):
        self.bags, self.options, self.report = bags, options, report
        self.views = {name: (m @ spelling).tocsr() for name, m in bags.views.items()}
        self.rows = np.array(rows, np.float32)
        self.start = self.rows.copy() if options.anchor else None
        self.adam = _LazyAdam(self.rows.shape)
        self.rng = np.random.default_rng(options.seed)
        dim = self.rows.shape[1]
        self.prefixes = sorted({min(p, dim) for p in options.prefixes} | {dim})
        draws = np.array([options.weights[kind] for kind in pairs.KINDS], np.float32)[bags.kind]
        draws[bags.of_sources(validation)] = 0
        self.draws = draws
        self.held = measure.held_back(bags, validation, spelling)

    def run(self):
        o = self.options
        per_epoch = int(self.draws.sum()) // o.batch
        if per_epoch == 0:
            raise ValueError(f"{int(self.draws.sum())} pairs to learn from do not fill a batch of {o.batch}")
        total, step, began = max(1, int(per_epoch * o.epochs)), 0, time.monotonic()
        warm_up = min(50, 1 + total // 10)
        self.report(f"{per_epoch * o.batch} pairs an epoch, {total} steps; MRR {self._mrr():.4f} at the start")
        while step < total:
            before = step
            for chosen in self._batches():
                rate = o.rate * min(1, (step + 1) / warm_up) * (1 - step / total)
                loss = self._step(chosen, rate)
                step += 1
                if step % 100 == 0 or step == total:
                    self.report(f"step {step}: loss {loss:.3f}, MRR {self._mrr():.4f}, {time.monotonic() - began:.0f} s")
                if step == total:
                    break
            if step == before:
                raise ValueError(f"the sources are too small for a batch of {o.batch} in groups of {o.group}")
        return self.rows

    def _mrr(self):
        return measure.mean(measure.mrr(self.rows, self.options.alpha, self.held))

    def _batches(self):
        """One epoch's batches: arrays of pair numbers, grouped."""
        o = self.options
        kept = np.flatnonzero(self.rng.random(len(self.draws)) < self.draws)
        again = np.flatnonzero(self.rng.random(len(self.draws)) < self.draws - 1)
        drawn = self.rng.permutation(np.concatenate([kept, again]))
        groups = []
        hard = self.rng.random(len(drawn)) < o.hard
        for some, alike in ((drawn[~hard], False), (drawn[hard], True)):
            key = self.bags.language[some] if alike else self.bags.source[some]
            for value in np.unique(key):
                members = some[key == value]
                if alike:
                    members = members[self._by_likeness(members)]
                groups += [members[at : at + o.group] for at in range(0, len(members) - o.group // 2, o.group)]
        order = self.rng.permutation(len(groups))
        per_batch = max(1, o.batch // o.group)
        for at in range(0, len(order) - per_batch + 1, per_batch):
            yield np.concatenate([groups[i] for i in order[at : at + per_batch]])

    def _by_likeness(self, members):
        """An order in which pairs with similar code are neighbours: halves along
        random directions until they are as small as a group."""
        codes = measure.embed(self.views["code"][members], self.rows, self.options.alpha)
        parts, done = [np.arange(len(members))], []
        while parts:
            part = parts.pop()
            if len(part) <= self.options.group:
                done.append(part)
                continue
            # The line through two members cuts where the members differ.
            a, b = self.rng.choice(part, 2, replace=False)
            order = part[np.argsort(codes[part] @ (codes[a] - codes[b]), kind="stable")]
            # Cut at a multiple of a group, so that groups and halves agree.
            half = max(1, round(len(order) / 2 / self.options.group)) * self.options.group
            parts += [order[half:], order[:half]] if half < len(order) else []
            if half >= len(order):
                done.append(order)
        return np.concatenate(done) if done else np.arange(0)

    def _step(self, chosen, rate):
        questions, codes = self._bags_of(chosen)
        touched = np.flatnonzero(np.bincount(np.concatenate([questions.indices, codes.indices]), minlength=len(self.rows)))
        questions, codes = _columns(questions, touched, len(self.rows)), _columns(codes, touched, len(self.rows))
        rows = self.rows[touched]
        at_questions, at_codes = questions @ rows, codes @ rows
        loss, by_questions, by_codes = self._loss(at_questions, at_codes, self.bags.same[chosen])
        gradient = questions.T @ by_questions + codes.T @ by_codes
        if self.start is not None:
            gradient += self.options.anchor * (rows - self.start[touched])
        self.rows[touched] = rows - rate * self.adam.direction(touched, gradient)
        return loss

    def _bags_of(self, chosen):
        """The questions and codes of a batch as the options want them."""
        o, rng = self.options, self.rng
        whole = rng.random(len(chosen)) < o.whole
        questions = _scaled(self.views["question"][chosen], whole) + _scaled(self.views["sentence"][chosen], ~whole)
        codes = self.views["code"][chosen]
        kind = self.bags.kind[chosen]
        with_path = (rng.random(len(chosen)) < o.path) & (kind != pairs.KINDS.index("path"))
        codes = codes + _scaled(self.views["path"][chosen], with_path)
        hidden = (rng.random(len(chosen)) < o.hide) & (kind == pairs.KINDS.index("name"))
        masks = _scaled(questions, hidden)
        masks.eliminate_zeros()
        masks.data[:] = 1
        codes = (codes - codes.multiply(masks)).tocsr()
        codes.data *= rng.random(len(codes.data)) >= o.drop
        for m in (questions, codes):
            m.eliminate_zeros()
            m.data **= o.alpha
        return questions, codes

    def _loss(self, questions, codes, same):
        """The loss, and its gradients by the questions' and codes' vectors."""
        by_questions, by_codes = np.zeros_like(questions), np.zeros_like(codes)
        blocks = max(1, len(questions) // self.options.block)
        loss = 0.0
        for block in range(blocks):
            end = (block + 1) * self.options.block if block < blocks - 1 else len(questions)
            part = slice(block * self.options.block, end)
            masked = (same[part, None] == same[None, part]) & ~np.eye(end - part.start, dtype=bool)
            for prefix in self.prefixes:
                one, q, c = contrast(questions[part, :prefix], codes[part, :prefix], masked, self.options.scale)
                loss += one / blocks / len(self.prefixes)
                by_questions[part, :prefix] += q / len(self.prefixes)
                by_codes[part, :prefix] += c / len(self.prefixes)
        return loss, by_questions, by_codes


def contrast(questions, codes, masked, scale):
    """The loss of a block, mean(-log p(code | question)) + 0.5 mean(-log p(question |
    code)), and its gradients by questions and codes. masked: pairs that are not each
    other's negatives."""
    n = len(questions)
    q_length = np.linalg.norm(questions, axis=1, keepdims=True) + 1e-9
    c_length = np.linalg.norm(codes, axis=1, keepdims=True) + 1e-9
    q, c = questions / q_length, codes / c_length
    logits = scale * (q @ c.T)
    logits[masked] = -1e4
    by_logits = np.zeros_like(logits)
    loss, at = 0.0, np.arange(n)
    for axis, weight in ((1, 1.0), (0, 0.5)):
        p = np.exp(logits - logits.max(axis, keepdims=True))
        p /= p.sum(axis, keepdims=True)
        loss += weight * float(-np.log(p[at, at] + 1e-30).mean())
        p[at, at] -= 1
        by_logits += weight / n * p
    by_logits[masked] = 0
    by_q, by_c = scale * (by_logits @ c), scale * (by_logits.T @ q)
    return (
        loss,
        (by_q - q * (q * by_q).sum(1, keepdims=True)) / q_length,
        (by_c - c * (c * by_c).sum(1, keepdims=True)) / c_length,
    )


class _LazyAdam:
    def __init__(self, shape):
        self.mean, self.square = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self.steps = np.zeros(shape[0], np.float32)

    def direction(self, touched, gradient, first=0.9, second=0.99):
        self.mean[touched] = mean = first * self.mean[touched] + (1 - first) * gradient
        self.square[touched] = square = second * self.square[touched] + (1 - second) * gradient**2
        self.steps[touched] += 1
        n = self.steps[touched, None]
        return (mean / (1 - first**n)) / (np.sqrt(square / (1 - second**n)) + 1e-8)


def _scaled(matrix, keep):
    """The matrix with the rows that are not kept empty."""
    return sp.diags(keep.astype(np.float32)) @ matrix


def _columns(matrix, touched, n):
    """The matrix with the touched columns only, renumbered."""
    number = np.zeros(n, np.int32)
    number[touched] = np.arange(len(touched), dtype=np.int32)
    return sp.csr_matrix((matrix.data, number[matrix.indices], matrix.indptr), shape=(matrix.shape[0], len(touched)))
