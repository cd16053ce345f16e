"""Pairs as bags of words: what training reads instead of text.

A bag is a row of a sparse matrix [pairs, words] with each word's count. Four views
of a pair are kept: its whole question, the question's first sentence, the code, and
the path's words.
"""

import array
import collections
import dataclasses
import gzip
import hashlib
import itertools
import json
import pathlib

import numpy as np
import scipy.sparse as sp

from . import languages, pairs, prose, tokenizer

VIEWS = ("question", "sentence", "code", "path")
_LIMITS = {"question": 80, "sentence": 40, "code": 400, "path": 20}  # words
_WITH_SENTENCES = frozenset(("doc", "testdoc", "inline", "module"))


@dataclasses.dataclass
class Bags:
    """views: a csr matrix [pairs, words] of float32 counts for each of VIEWS. kind,
    language, source: numbers into pairs.KINDS, languages.NAMES and sources, per
    pair. same: a hash of the question's first sentence, equal for pairs that must
    not be each other's negatives."""

    views: dict
    kind: np.ndarray
    language: np.ndarray
    source: np.ndarray
    same: np.ndarray
    words: list
    sources: list

    def __len__(self):
        return len(self.kind)

    def of_sources(self, names):
        """Which pairs belong to the sources, as booleans."""
        chosen = np.array([s in names for s in self.sources], bool)
        return chosen[self.source]

    def save(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in ("kind", "language", "source", "same")}
        for view, m in self.views.items():
            arrays |= {f"{view}_at": m.indptr, f"{view}_word": m.indices, f"{view}_count": m.data.astype(np.int16)}
        np.savez(folder / "bags.npz", **arrays)
        (folder / "bags.json").write_text(json.dumps({"words": self.words, "sources": self.sources}), encoding="utf-8")

    @classmethod
    def load(cls, folder):
        folder = pathlib.Path(folder)
        names = json.loads((folder / "bags.json").read_text(encoding="utf-8"))
        with np.load(folder / "bags.npz") as d:
            shape = (len(d["kind"]), len(names["words"]))
            views = {
                v: sp.csr_matrix((d[f"{v}_count"].astype(np.float32), d[f"{v}_word"], d[f"{v}_at"]), shape=shape) for v in VIEWS
            }
            return cls(views, *(d[n] for n in ("kind", "language", "source", "same")), names["words"], names["sources"])


class _View:
    def __init__(self, limit):
        self.limit, self.word, self.count, self.at = limit, array.array("i"), array.array("h"), array.array("q", [0])

    def bag(self, text, number):
        """The text's words and counts, new words numbered on the way."""
        known = (
            number.setdefault(word, len(number))
            for word in tokenizer.words(text)
            if len(word) <= tokenizer.MAX_SUB and (len(word) <= tokenizer.LONG_NUMBER or not word.isdigit())
        )
        return collections.Counter(itertools.islice(known, self.limit))

    def append(self, bag):
        self.word.extend(bag.keys())
        self.count.extend(bag.values())
        self.at.append(len(self.word))


def read(folder, deny):
    """The bags of all pairs that mine.py wrote into the folder. Raises SourceError
    if one is of a denied source, whoever put it there."""
    number, sources = {}, []
    views = {v: _View(_LIMITS[v]) for v in VIEWS}
    columns = {"kind": array.array("b"), "language": array.array("b"), "source": array.array("h"), "same": array.array("q")}
    for file in sorted(pathlib.Path(folder).glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if not sources or sources[-1] != row["source"]:
                    deny.check(row["source"])
                    sources.append(row["source"])
                _append(row, len(sources) - 1, number, views, columns)
    if not sources:
        raise FileNotFoundError(f"no pairs in {folder}: run mine first")
    shape = (len(columns["kind"]), len(number))
    matrices = {}
    for name, v in views.items():
        counts = np.asarray(v.count, np.float32)
        matrices[name] = sp.csr_matrix((counts, np.asarray(v.word, np.int32), np.asarray(v.at, np.int64)), shape=shape)
    types = {"kind": np.int8, "language": np.int8, "source": np.int16, "same": np.int64}
    return Bags(matrices, **{k: np.asarray(columns[k], t) for k, t in types.items()}, words=list(number), sources=sources)


def _append(row, source, number, views, columns):
    question, code = row["question"], row["code"]
    sentence = prose.first_sentence(question) if row["kind"] in _WITH_SENTENCES else question
    whole = views["question"].bag(question, number)
    if len(code.strip()) < 60 or not whole:
        return
    views["question"].append(whole)
    views["sentence"].append(views["sentence"].bag(sentence, number) or whole)
    views["code"].append(views["code"].bag(code, number))
    views["path"].append(views["path"].bag("/".join(row["path"].split("/")[-3:]), number))
    columns["kind"].append(pairs.KINDS.index(row["kind"]))
    columns["language"].append(languages.NAMES.index(row["language"]))
    columns["source"].append(source)
    digest = hashlib.md5(sentence.lower().encode("utf-8", "replace"), usedforsecurity=False).digest()
    columns["same"].append(int.from_bytes(digest[:7], "little"))
