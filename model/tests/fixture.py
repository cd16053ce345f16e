"""The small model file that the Go tests read back (engine/embed/static/testdata).

    python tests/fixture.py    writes trained.cesm and trained.json anew
"""

import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from codemodel import cesm  # noqa: E402
from codemodel.tokenizer import Tokenizer  # noqa: E402

FOLDER = HERE.parent.parent / "engine" / "embed" / "static" / "testdata"
TEXTS = (
    "func parseHeader(input string) Header",
    "how to parse a request header in python?",
    "HTTPServer2 getURL XMLHttpRequest id_42 123456 1024",
    "naïve Ünïcode 日本語 ΣΊΣΥΦΟΣ ٣٤",
    "parse parse parse header",
    "~~~ ...",
    "",
)
PIECES = (
    "parse", "header", "request", "string", "func", "http", "server", "url", "get", "xml", "how", "to", "python", "1024", "2",
    "日本語", "σίσυφος", "na", "##ve", "##a", "##e", "##s", "##t", "##put", "in", "i", "d", "n", "##der",
)


def table():
    rows = np.random.default_rng(7).standard_normal((len(PIECES), 24)).astype(np.float32)
    rows[5] = 0  # a piece that says nothing
    rows[6] *= 1e-3
    return cesm.Table(list(PIECES), rows, 0.5)


def expected(model):
    """What every reader of the file must make of TEXTS."""
    tokenizer, found = Tokenizer(model.pieces), []
    for text in TEXTS:
        ids = tokenizer.ids(text)
        counts = np.bincount(ids, minlength=len(model.pieces)).astype(np.float64)
        vector = counts**model.alpha @ model.rows if ids else np.zeros(model.rows.shape[1])
        length = np.linalg.norm(vector)
        found.append({"text": text, "ids": ids, "vector": [round(float(v), 7) for v in (vector / length if length else vector)]})
    return found


if __name__ == "__main__":
    cesm.write(FOLDER / "trained.cesm", table())
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in expected(cesm.read(FOLDER / "trained.cesm")))
    (FOLDER / "trained.json").write_text(f"[\n{rows}\n]\n", encoding="utf-8")
