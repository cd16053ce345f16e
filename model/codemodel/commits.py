"""Pairs of a commit's subject and the largest change that it made."""

import re
import subprocess

from . import languages
from .pairs import Pair, cut

_LIMIT = 400  # newest commits without merges
_MAX_BYTES = 120_000_000
_SECONDS = 240
# Numbers, scopes and conventional-commit types before or in a subject.
_DECORATION = re.compile(
    r"\(?#\d+\)?|^[\w/.,*{}-]+:\s+|^(feat|fix|chore|docs|refactor|perf|test|ci|build|style)(\([^)]*\))?!?:\s*|^\[[^\]]*\]\s*"
)
_CHORE = re.compile(
    r"(bump|update|upgrade|release|merge|revert|version|changelog|chore|prepare|deps|build)\b", re.IGNORECASE
)


def extract(git_dir, revision, refuses_path):
    """The pairs of the newest commits up to the revision. refuses_path tells of a
    path whether it must not be read. A history that takes too long gives none."""
    command = [
        "git", "--git-dir", str(git_dir), "log", "--no-merges", "-n", str(_LIMIT), "--diff-filter=AM", "-U4", "-p",
        "--no-color", "--no-ext-diff", "--no-textconv", "--format=%x01%s%x02", revision,
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return
    for record in done.stdout[:_MAX_BYTES].decode("utf-8", "replace").split("\x01")[1:]:
        subject, _, diff = record.partition("\x02")
        subject = _DECORATION.sub("", subject).strip()
        if len(subject.split()) < 3 or len(subject) > 140 or _CHORE.match(subject):
            continue
        change = _largest(diff, refuses_path)
        if change and len(change[1]) > 120:
            path, code = change
            yield Pair("commit", languages.of(path).name, path, subject, cut(code))


def _largest(diff, refuses_path):
    """The path and new text of the file with most added lines among the first
    twelve, None if no source file has two."""
    best = (1, None)
    for part in diff.split("\ndiff --git ")[:12]:
        m = re.search(r"^\+\+\+ b/(.+)$", part, re.MULTILINE)
        if not m:
            continue
        path = m.group(1)
        language = languages.of(path)
        if language is None or language.name == "markdown" or languages.is_test(path) or refuses_path(path):
            continue
        hunks = re.split(r"^@@[^@]*@@", part, flags=re.MULTILINE)[1:]
        lines = [line for hunk in hunks for line in hunk.split("\n") if line[:1] in ("+", " ")]
        added = sum(line.startswith("+") for line in lines)
        if added > best[0]:
            best = (added, (path, "\n".join(line[1:] for line in lines)))
    return best[1]
