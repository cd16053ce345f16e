import gzip
import json
import struct

import numpy as np
import pytest

import fixture
from codemodel import __main__ as command
from codemodel import cesm, initial, vocabulary
from codemodel.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def shipped():
    return cesm.read(command.SHIPPED)


def test_reference_texts(shipped):
    """Pieces and vectors of the shipped table, as the Go program is held to them."""
    tokenizer = Tokenizer(shipped.pieces)
    for row in json.loads((fixture.FOLDER / "reference.json").read_text()):
        ids = tokenizer.ids(row["text"])
        assert ids == row["ids"], row["text"]
        counts = np.bincount(ids, minlength=len(shipped.pieces)) ** shipped.alpha
        vector = counts @ shipped.rows
        vector /= np.linalg.norm(vector) or 1
        assert np.abs(vector - row["vector"]).max() < 1e-5


@pytest.mark.parametrize("name", ["parity.json.gz", "unicode.json.gz"])
def test_parity_with_the_go_tokenizer(name, shipped):
    """The texts that engine/embed/static/parity_test.go reads too."""
    with gzip.open(fixture.FOLDER / name, "rt", encoding="utf-8") as f:
        given = json.load(f)
    tokenizer = Tokenizer(given["pieces"] or shipped.pieces)
    wrong = [text for text, ids in given["rows"] if tokenizer.ids(text) != ids]
    assert len(given["rows"]) > 600 and not wrong


def test_shipped_file_is_reproduced_by_pack(shipped):
    """Reading and writing is exact, so that a table can be continued from a file."""
    again = cesm.unpack(cesm.pack(shipped))
    assert again.pieces == shipped.pieces and again.alpha == shipped.alpha
    assert np.abs(again.rows - shipped.rows).max() < 1e-6 + np.abs(shipped.rows).max() / 1000


def test_committed_fixture_is_current():
    """The Go test reads this very file (TestTrainedFile)."""
    model = cesm.read(fixture.FOLDER / "trained.cesm")
    assert cesm.unpack(cesm.pack(fixture.table())).pieces == model.pieces
    assert np.array_equal(cesm.unpack(cesm.pack(fixture.table())).rows, model.rows)
    assert json.loads((fixture.FOLDER / "trained.json").read_text()) == fixture.expected(model)


def test_rounding():
    rows = np.array([[1.0, -0.5, 0.25], [0, 0, 0], [1e-9, 0, 0]], np.float32)
    back = cesm.unpack(cesm.pack(cesm.Table(["a", "b", "c"], rows, 0.5)))
    assert np.abs(back.rows - rows).max() < 0.5 / 127
    assert not back.rows[1:].any()


@pytest.mark.parametrize(
    "damage",
    [lambda d: d[:10], lambda d: b"XESM" + d[4:], lambda d: d[:4] + struct.pack("<I", 2) + d[8:], lambda d: d[:-1], lambda d: d + b"x"],
)
def test_damaged_files(damage, tmp_path):
    file = tmp_path / "damaged.cesm"
    file.write_bytes(damage(cesm.pack(fixture.table())))
    with pytest.raises(ValueError, match="damaged.cesm"):
        cesm.read(file)


def test_bad_tables():
    with pytest.raises(ValueError, match="2 pieces"):
        cesm.pack(cesm.Table(["a", "b"], np.zeros((3, 4)), 0.5))
    with pytest.raises(ValueError, match="not finite"):
        cesm.pack(cesm.Table(["a"], np.full((1, 4), np.nan), 0.5))


def test_merged_pieces():
    counts = {"parser": 9, "parsing": 8, "parse": 8, "sing": 2, "singer": 2}
    pieces = vocabulary.merge_pairs(counts, 40)
    assert {"pars", "##ing"} <= pieces or {"parse", "##ing"} <= pieces
    assert set("ps") <= pieces and {"##a", "##r", "##e"} <= pieces
    assert len(vocabulary.merge_pairs(counts, 14)) <= 15
    tokenizer = Tokenizer(sorted(pieces))
    for word in counts:
        spelled = [tokenizer.pieces[i].removeprefix("##") for i in tokenizer.word_ids(word)]
        assert "".join(spelled) == word


def test_rows_from_another_table():
    old = cesm.Table(["parse", "head", "##er"], np.array([[1, 0], [0, 2], [0, 4]], np.float32), 0.5)
    rows = initial.from_table(["header", "parse", "##head", "zzz"], old)
    assert rows.tolist() == [[0, 3], [1, 0], [0, 2], [0, 0]]
