"""Rows to start training from. Three ways:

minilm   each piece's embedding by all-MiniLM-L6-v2 (Apache-2.0), reduced by
         principal components; as in model2vec. Needs onnxruntime.
table    the rows of another CESM file; new pieces get the mean of the rows that
         spell them there.
random   for tests and comparison; loses about a tenth.

Rows are weighted by smooth inverse frequency, a/(a+p) with a = 0.001 (Arora et al.
2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings").
"""

import pathlib

import numpy as np

from .tokenizer import CONTINUES, Tokenizer

_SIF = 1e-3
_BATCH = 256


def frequencies(bags, spelling):
    """How often each piece occurs, as shares of the total, questions counted three
    times."""
    def count(view):
        return np.asarray((bags.views[view] @ spelling).sum(0)).ravel()

    total = count("code") + 3 * count("question")
    return (total / total.sum()).astype(np.float32)


def weigh(rows, frequency):
    """The rows at unit length times their weight."""
    unit = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)
    return (unit * (_SIF / (_SIF + frequency))[:, None]).astype(np.float32)


def from_random(pieces, frequency, dim, seed):
    return weigh(np.random.default_rng(seed).standard_normal((len(pieces), dim), dtype=np.float32), frequency)


def from_table(pieces, table):
    tokenizer = Tokenizer(table.pieces)
    number = {piece: i for i, piece in enumerate(table.pieces)}
    rows = np.zeros((len(pieces), table.rows.shape[1]), np.float32)
    for i, piece in enumerate(pieces):
        ids = [number[piece]] if piece in number else tokenizer.word_ids(piece.removeprefix(CONTINUES))
        if ids:
            rows[i] = table.rows[ids].mean(0)
    return rows


def from_minilm(pieces, frequency, dim, folder):
    """folder: as `make model` leaves it (model-fp32.onnx or model-int8.onnx, and
    vocab.txt)."""
    embedded = _embed(pieces, pathlib.Path(folder))
    embedded -= embedded.mean(0)
    _, _, axes = np.linalg.svd(embedded, full_matrices=False)
    return weigh(embedded @ axes[:dim].T, frequency)


def _embed(pieces, folder):
    import onnxruntime  # only this way of starting needs it

    file = next((f for f in (folder / "model-fp32.onnx", folder / "model-int8.onnx") if f.is_file()), None)
    if file is None:
        raise FileNotFoundError(f"no MiniLM in {folder}: make model installs it, --init table starts without it")
    listed = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    number = {piece: i for i, piece in enumerate(listed)}
    tokenizer = Tokenizer(listed)
    session = onnxruntime.InferenceSession(str(file))
    texts = [[number["[CLS]"], *tokenizer.word_ids(p.removeprefix(CONTINUES)), number["[SEP]"]] for p in pieces]
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out = None
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        ids = np.zeros((len(some), max(len(texts[i]) for i in some)), np.int32)
        mask = np.zeros_like(ids)
        for r, i in enumerate(some):
            ids[r, : len(texts[i])] = texts[i]
            mask[r, : len(texts[i])] = 1
        vectors = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        if out is None:
            out = np.zeros((len(pieces), vectors.shape[1]), np.float32)
        out[some] = vectors
    return out
