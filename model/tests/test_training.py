import pathlib

import numpy as np
import pytest

from codemodel import __main__ as command
from codemodel import bags, cesm, initial, measure, mine, sources, train, vocabulary
from codemodel.tokenizer import Tokenizer

SMALL = {"batch": 64, "block": 32, "group": 16, "epochs": 12, "rate": 0.03, "prefixes": (8, 16)}


@pytest.fixture(scope="module")
def prepared(mirrors, tmp_path_factory):
    from codemodel import corpus

    out, deny = tmp_path_factory.mktemp("pairs"), sources.DenyList.load()
    mine.mine_all(mirrors[1], corpus.Places(mirrors[0]), deny, out, processes=1, report=lambda _: None)
    found = bags.read(out, deny)
    pieces = vocabulary.build(found, ~found.of_sources({"some/kept"}), 400, 150)
    return found, pieces, vocabulary.spelling(found.words, Tokenizer(pieces))


def first_rows(prepared, dim=16):
    found, pieces, spelling = prepared
    return initial.from_random(pieces, initial.frequencies(found, spelling), dim, seed=3)


def trained(prepared, **options):
    found, _, spelling = prepared
    o = train.Options(**(SMALL | options))
    return train.train(found, spelling, first_rows(prepared), {"some/kept"}, o, report=lambda _: None)


def test_gradient():
    """Against differences of the loss, masked negatives included."""
    rng = np.random.default_rng(0)
    q, c = rng.standard_normal((2, 6, 4))
    masked = np.zeros((6, 6), bool)
    masked[1, 3] = masked[3, 1] = True
    _, by_q, by_c = train.contrast(q, c, masked, 20.0)
    step = 1e-6
    for array, gradient in ((q, by_q), (c, by_c)):
        for at in np.ndindex(array.shape):
            before = array[at]
            array[at] = before + step
            up = train.contrast(q, c, masked, 20.0)[0]
            array[at] = before - step
            down = train.contrast(q, c, masked, 20.0)[0]
            array[at] = before
            assert abs((up - down) / (2 * step) - gradient[at]) < 1e-4


def test_training_learns(prepared):
    found, _, spelling = prepared
    held = measure.held_back(found, {"some/kept"}, spelling)
    assert [name for name, *_ in held] == ["some/kept"]
    before = measure.mean(measure.mrr(first_rows(prepared), 0.5, held))
    after = measure.mean(measure.mrr(trained(prepared, epochs=50), 0.5, held))
    assert after > before + 0.1 and after > 0.6, (before, after)


def test_the_same_seed_gives_the_same_rows(prepared):
    one = trained(prepared, hard=0.5, epochs=2)
    assert np.array_equal(one, trained(prepared, hard=0.5, epochs=2))
    assert not np.array_equal(one, trained(prepared, hard=0.5, epochs=2, seed=1))


def test_anchor_keeps_rows_near_the_start(prepared):
    start = first_rows(prepared)
    free, held = trained(prepared, epochs=4), trained(prepared, epochs=4, anchor=10.0)
    assert np.abs(held - start).mean() < 0.7 * np.abs(free - start).mean()


def test_kept_back_sources_are_not_learnt_from(prepared):
    """Rows of words that only they have stay as they were."""
    found, pieces, spelling = prepared
    learnt = ~found.of_sources({"some/kept"})
    used = sum(np.asarray((m[learnt] @ spelling).sum(0)).ravel() for m in found.views.values())
    unused = np.flatnonzero(used == 0)
    assert len(unused)
    assert np.array_equal(trained(prepared, epochs=1)[unused], first_rows(prepared)[unused])


def test_too_few_pairs(prepared):
    with pytest.raises(ValueError, match="do not fill a batch of 1000000"):
        trained(prepared, batch=1_000_000)


def test_bags_are_read_back(prepared, tmp_path):
    found = prepared[0]
    found.save(tmp_path)
    again = bags.Bags.load(tmp_path)
    assert again.words == found.words and again.sources == found.sources
    for view in bags.VIEWS:
        assert (again.views[view] != found.views[view]).nnz == 0
    assert np.array_equal(again.same, found.same) and np.array_equal(again.kind, found.kind)


def test_command_line(mirrors, tmp_path, capsys):
    """Every stage from sources to a file, as `make code-model` runs them."""
    root, found = mirrors
    listed = tmp_path / "sources.tsv"
    listed.write_text("".join(f"{s.name}\t{s.kind}\t{s.licence}\t{s.revision}\t{s.split}\n" for s in found))
    common = ["--work", str(tmp_path / "work"), "--sources", str(listed)]
    small = ["--words", "300", "--pieces", "100", "--dim", "16", "--batch", "64", "--block", "32", "--group", "16", "--epochs", "2"]
    out = tmp_path / "out.cesm"
    assert command.main([*common, "all", "--mirrors", str(root), "--processes", "1", "--init", "random", "--out", str(out), *small]) == 0
    table = cesm.read(out)
    assert table.rows.shape[1] == 16 and "header" in table.pieces
    assert command.main([*common, "measure", str(out)]) == 0
    assert "some/kept 0." in capsys.readouterr().out
    more = tmp_path / "more.cesm"
    continued = ["--init", f"table:{out}", "--vocabulary", str(out), "--hard", "0.5", "--anchor", "0.1", "--weight", "question=1"]
    assert command.main([*common, "train", *continued, "--out", str(more), *small]) == 0
    assert cesm.read(more).pieces == table.pieces
    assert command.main([*common, "train", "--init", "nonsense", *small]) == 1
    assert command.main([*common, "train", "--weight", "x=1", *small]) == 1
    assert command.main([*common, "measure", str(listed)]) == 1
    errors = capsys.readouterr().err
    assert "nonsense" in errors and "no kind 'x'" in errors and str(listed) in errors


def test_command_refuses_a_denied_source(tmp_path, capsys):
    listed = tmp_path / "sources.tsv"
    listed.write_text("psf/requests\tgit\tApache-2.0\tabc\ttrain\n")
    assert command.main(["--work", str(tmp_path), "--sources", str(listed), "mine", "--mirrors", str(tmp_path)]) == 1
    assert "psf/requests is in deny.txt" in capsys.readouterr().err
    assert not pathlib.Path(tmp_path / "pairs").exists()
