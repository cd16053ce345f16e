"""The command line: python -m codemodel STAGE, or `all` for one after the other."""

import argparse
import os
import pathlib
import sys


from . import bags, cesm, corpus, initial, measure, mine, sources, train, vocabulary
from .tokenizer import Tokenizer

SHIPPED = sources.HERE.parent / "engine" / "embed" / "static" / "code-256.cesm"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="codemodel", description="Make the embedded code model (model/README.md).")
    parser.add_argument("--work", type=pathlib.Path, default=sources.HERE.parent / ".cache" / "code-model", help="folder of intermediate files")
    parser.add_argument("--sources", type=pathlib.Path, default=sources.HERE / "sources.tsv", help="list of sources")
    stages = parser.add_subparsers(dest="stage", required=True)

    all_ = stages.add_parser("all", help="mine, prepare, train and measure")
    for stage in (stages.add_parser("mine", help="pairs out of the sources"), all_):
        stage.add_argument("--mirrors", default=os.environ.get("MIRRORS"), help="folder of git mirrors <owner>+<name> (MIRRORS)")
        stage.add_argument("--packages", default=os.environ.get("PACKAGES"), help="folder of wheels and sdists (PACKAGES)")
        stage.add_argument("--processes", type=int, default=2)
    stages.add_parser("prepare", help="pairs to bags of words")
    for stage in (stages.add_parser("train", help="vocabulary, first rows, training, file"), all_):
        stage.add_argument("--out", type=pathlib.Path, help="model file to write (default: code.cesm in the work folder)")
        stage.add_argument("--init", default="minilm", help="minilm[:FOLDER], table[:FILE] or random")
        stage.add_argument("--vocabulary", type=pathlib.Path, help="take the pieces of this model file")
        stage.add_argument("--words", type=int, default=22_000)
        stage.add_argument("--pieces", type=int, default=6_000)
        stage.add_argument("--dim", type=int, default=256)
        for name in ("epochs", "rate", "alpha", "hard", "anchor", "drop", "whole"):
            stage.add_argument(f"--{name}", type=float, default=getattr(train.Options(), name))
        for name in ("batch", "block", "group", "seed"):
            stage.add_argument(f"--{name}", type=int, default=getattr(train.Options(), name))
        stage.add_argument("--weight", action="append", default=[], metavar="KIND=N", help="how often pairs of a kind are drawn")
    check = stages.add_parser("measure", help="MRR of model files on the validation sources")
    check.add_argument("files", type=pathlib.Path, nargs="*", default=[SHIPPED])
    a = parser.parse_args(arguments)
    try:
        for stage in ("mine", "prepare", "train") if a.stage == "all" else (a.stage,):
            globals()[f"_{stage}"](a)
    except (sources.SourceError, OSError, ValueError) as err:
        print(f"codemodel: {err}", file=sys.stderr)
        return 1
    return 0


def _mine(a):
    deny = sources.DenyList.load()
    places = corpus.Places(a.mirrors, a.packages)
    missing = mine.mine_all(sources.load(a.sources, deny), places, deny, a.work / "pairs", a.processes, _report)
    if missing:
        _report(f"{len(missing)} sources are not on this machine: {', '.join(missing)}")


def _prepare(a):
    found = bags.read(a.work / "pairs", sources.DenyList.load())
    found.save(a.work)
    _report(f"{len(found)} pairs of {len(found.sources)} sources, {len(found.words)} words")


def _train(a):
    weights = dict(train.WEIGHTS)
    for given in a.weight:
        kind, _, value = given.partition("=")
        if kind not in weights:
            raise ValueError(f"--weight {given}: no kind {kind!r}, there are {', '.join(weights)}")
        weights[kind] = float(value)
    options = train.Options(
        epochs=a.epochs, rate=a.rate, alpha=a.alpha, hard=a.hard, anchor=a.anchor, drop=a.drop, whole=a.whole, batch=a.batch,
        block=a.block, group=a.group, seed=a.seed, weights=weights,
    )
    b, validation = bags.Bags.load(a.work), _validation(a)
    learnt = ~b.of_sources(validation)
    pieces = cesm.read(a.vocabulary).pieces if a.vocabulary else vocabulary.build(b, learnt, a.words, a.pieces)
    spelling = vocabulary.spelling(b.words, Tokenizer(pieces))
    _report(f"{len(pieces)} pieces")
    rows = train.train(b, spelling, _first_rows(a, pieces, b, spelling), validation, options, _report)
    out = a.out or a.work / "code.cesm"
    cesm.write(out, cesm.Table(pieces, rows, options.alpha))
    _report(f"{out}: {out.stat().st_size} bytes")


def _first_rows(a, pieces, b, spelling):
    way, _, place = a.init.partition(":")
    frequency = initial.frequencies(b, spelling)
    if way == "minilm":
        return initial.from_minilm(pieces, frequency, a.dim, place or sources.HERE.parent / ".cache" / "model-dir")
    if way == "table":
        return initial.from_table(pieces, cesm.read(place or SHIPPED))[:, : a.dim]
    if way == "random":
        return initial.from_random(pieces, frequency, a.dim, a.seed)
    raise ValueError(f"--init {a.init}: want minilm, table or random")


def _measure(a):
    b, validation = bags.Bags.load(a.work), _validation(a)
    for file in a.files:
        table = cesm.read(file)
        held = measure.held_back(b, validation, vocabulary.spelling(b.words, Tokenizer(table.pieces)))
        result = measure.mrr(table.rows, table.alpha, held)
        _report(f"{file}: MRR {measure.mean(result):.4f} " + " ".join(f"{name} {value:.3f}" for name, value in result.items()))


def _validation(a):
    return {s.name for s in sources.load(a.sources) if s.split == "validation"}


def _report(line):
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
