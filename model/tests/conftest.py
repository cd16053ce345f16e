"""Small repositories to mine."""

import subprocess

import pytest

from codemodel import corpus, sources

VERBS = ("parse", "render", "encode", "decode", "fetch", "merge", "sort", "filter")
NOUNS = ("header", "cookie", "invoice", "matrix", "packet", "profile", "ticket", "vector", "window", "schedule", "balance", "token")


def module(noun, comment):
    """A source file with one documented function for each verb."""
    parts = [comment(f"Everything about a {noun}: how it is read, checked and written to the storage below.") + "\n"]
    for verb in VERBS:
        parts.append(
            comment(f"{verb.title()}s the {noun} of a request into its parts.")
            + f"func {verb}{noun.title()}(input string) {noun.title()} {{\n"
            + f"\tresult := new{noun.title()}(input)\n\tfor _, part := range split(input) {{\n"
            + f"\t\tresult.add{verb.title()}(part)\n\t}}\n\treturn result\n}}\n"
        )
    return f"package {noun}\n\n" + "\n".join(parts)


def go_comment(text):
    return f"// {text}\n"


def git(folder, *arguments):
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder, files, subject="Read schedules from the calendar service"):
    """A git repository with the files, each committed; returns its head."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        git(folder, "add", path)
        git(folder, "commit", "-q", "-m", f"{subject} ({path.split('/')[-1].split('.')[0]})")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def mirrors(tmp_path_factory):
    """A folder of two mirrors, one to learn from and one to measure on, and the
    sources that they are."""
    root = tmp_path_factory.mktemp("mirrors")
    found = []
    for name, split, nouns in (("some/learnt", "train", NOUNS), ("some/kept", "validation", NOUNS[:8])):
        files = {f"src/{noun}.go": module(noun, go_comment) for noun in nouns}
        files["vendor/other/copy.go"] = module("copy", go_comment)
        files["click/core.go"] = module("denied", go_comment)
        head = repository(root / name.replace("/", "+") / "repo", files)
        found.append(sources.Source(name, "git", "MIT", head, split))
    # A mirror's git directory has no work tree around it.
    for source in found:
        folder = root / source.file_name
        (folder / "repo" / ".git").rename(folder / "bare")
        for file in sorted((folder / "repo").rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        (folder / "repo").rmdir()
        (folder / "bare").rename(folder / "repo")
    return root, found


@pytest.fixture
def places(mirrors):
    return corpus.Places(mirrors[0])
