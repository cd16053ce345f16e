import pytest

from codemodel import bags, corpus, mine, sources
from conftest import go_comment, module, repository


def test_committed_lists_agree():
    deny = sources.DenyList.load()
    listed = sources.load()
    assert {s.split for s in listed} == {"train", "validation"}
    assert not [s.name for s in listed if deny.refuses(s.name)]
    assert not {s.name for s in listed} & {"jeremyevans/sequel", "rubygems/rubygems", "haskell-servant/servant"}


@pytest.mark.parametrize("name", ["psf/requests", "PSF/Requests", "requests", "mini.nvim", "mini-nvim", "gorilla/websocket", "fastify/fastify"])
def test_denied_names(name):
    deny = sources.DenyList.load()
    assert deny.refuses(name)
    with pytest.raises(sources.SourceError, match=f"{name} is in deny.txt"):
        deny.check(name)


def test_other_names_are_not_denied():
    deny = sources.DenyList.load()
    for name in ("tornadoweb/tornado", "someone/requests-toolbelt", "numpy"):
        assert not deny.refuses(name)


def test_copies_of_denied_projects_are_not_read():
    deny = sources.DenyList.load()
    assert deny.refuses_path("tools/click/core.py")
    assert deny.refuses_path("src/Requests/api.py")
    assert not deny.refuses_path("src/tools/click.py")


@pytest.mark.parametrize(
    "line, message",
    [
        ("psf/requests\tgit\tApache-2.0\tabc\ttrain", "deny.txt"),
        ("a/b\tgit\tGPL-3.0\tabc\ttrain", "GPL-3.0"),
        ("a/b\tgit\t?\tabc\ttrain", r"under '\?'"),
        ("a/b\tgit\tMIT\t\ttrain", "no revision"),
        ("a/b\tsvn\tMIT\tabc\ttrain", "svn"),
        ("a/b\tgit\tMIT\tabc\ttest", "test"),
        ("a/b\tgit\tMIT\tabc", "4 columns"),
        ("a/b\tgit\tMIT\tabc\ttrain\nA/B\tgit\tMIT\tabc\ttrain", "listed twice"),
        ("# nothing", "lists no source"),
    ],
)
def test_bad_lists(tmp_path, line, message):
    file = tmp_path / "sources.tsv"
    file.write_text(line + "\n")
    with pytest.raises(sources.SourceError, match=message) as err:
        sources.load(file)
    assert str(file) in str(err.value)


def test_denied_source_is_never_mined(tmp_path):
    """Not even where it got past the list: the miner asks again."""
    head = repository(tmp_path / "pallets+click", {"core.go": module("option", go_comment)})
    source = sources.Source("pallets/click", "git", "BSD-3-Clause", head, "train")
    with pytest.raises(sources.SourceError, match="deny.txt"):
        mine.mine_all([source], corpus.Places(tmp_path), sources.DenyList.load(), tmp_path / "out", processes=1)
    assert not list((tmp_path / "out").glob("*"))


def test_denied_repository_under_another_name(tmp_path):
    head = repository(tmp_path / "some+thing", {"core.go": module("option", go_comment)})
    config = tmp_path / "some+thing" / ".git" / "config"
    config.write_text(config.read_text() + '[remote "origin"]\n\turl = git@github.com:Pallets/click.git\n')
    source = sources.Source("some/thing", "git", "MIT", head, "train")
    places = corpus.Places(tmp_path)
    with pytest.raises(sources.SourceError, match="allets/click is in deny.txt"):
        list(corpus.read(source, places.find(source), sources.DenyList.load()))


def test_mirror_without_the_pinned_commit(tmp_path):
    repository(tmp_path / "some+thing", {"core.go": module("option", go_comment)})
    source = sources.Source("some/thing", "git", "MIT", "0123456789abcdef0123456789abcdef01234567", "train")
    with pytest.raises(sources.SourceError, match="some/thing has no commit 0123456789"):
        list(corpus.read(source, corpus.Places(tmp_path).find(source), sources.DenyList.load()))


def test_denied_pairs_are_not_prepared(tmp_path, mirrors, places):
    deny = sources.DenyList.load()
    source = mirrors[1][0]
    found = mine.mine_source(source, places.find(source), deny)
    smuggled = sources.Source("pallets/flask", "git", "MIT", source.revision, "train")
    mine.write(tmp_path / "flask.jsonl.gz", smuggled, found)
    with pytest.raises(sources.SourceError, match="pallets/flask"):
        bags.read(tmp_path, deny)
