"""Pairs of a question and the code that answers it, read out of one file.

Kinds: `doc` documentation and its declaration (`testdoc` in tests), `question` the
same with the first sentence as somebody would ask it, `name` a declaration's name
and its body, `inline` a comment inside code and the statements below it, `module`
what a file says of itself and some of its code, `path` a file's path and some of
its content, `heading` a Markdown heading and its section, `commit` a commit's
subject and what it changed (commits.py).
"""

import dataclasses
import re

from . import blocks, comments, languages, prose, questions, words

KINDS = ("doc", "testdoc", "question", "name", "inline", "module", "path", "heading", "commit")

MAX_LINES = 12_000
MAX_QUESTION = 600  # characters
MAX_CODE = 1_500  # characters, about a chunk of the index

# What comes before a file's first code.
_PREAMBLE = re.compile(
    r"(package|import|from|use|using|#include|#ifndef|#define|require|module\.|'use strict|\"use strict|<\?php|namespace|@file"
    r"|@@|extern crate|pragma)\b"
)
_HEADING = re.compile(r"^(#{1,5})\s+(.+?)\s*#*$")


@dataclasses.dataclass(frozen=True)
class Pair:
    kind: str
    language: str
    path: str
    question: str
    code: str


def extract(text, path, random):
    """The file's pairs. random: a random.Random, for the places and sentences that
    are drawn."""
    language = languages.of(path)
    if language is None:
        return
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    lines = text.split("\n")
    if len(lines) > MAX_LINES or len(text) > 160 * len(lines):
        return
    reader = _sections(lines) if language.name == "markdown" else _Reader(lines, language, path, random).read()
    for kind, question, code in reader:
        yield Pair(kind, language.name, path, question[:MAX_QUESTION], cut(code))


def cut(text, limit=MAX_CODE):
    """The text up to the last line end below the limit."""
    if len(text) <= limit:
        return text
    at = text.rfind("\n", 0, limit)
    return text[:at] if at > 0 else text[:limit]


def _sections(lines):
    stack, start, found = [], None, []

    def close(stop):
        if start is not None and stop - start > 2:
            found.append((" ".join(title for _, title in stack[-2:]), "\n".join(lines[start:stop]).strip()))

    for i, line in enumerate(lines):
        m = _HEADING.match(line)
        if not m:
            continue
        close(i)
        depth = len(m.group(1))
        title = re.sub(r"[`*\[\]]|\(http[^)]*\)", "", m.group(2))
        stack = [s for s in stack if s[0] < depth] + [(depth, title)]
        start = i + 1
    close(len(lines))
    for heading, body in found[:40]:
        is_release = re.search(r"v?\d+\.\d+|20\d\d", heading)
        if not is_release and len(body) >= 120 and re.search(r"[A-Za-z]{3,}", heading):
            yield "heading", heading[:200], body


class _Reader:
    def __init__(self, lines, language, path, random):
        self.lines, self.language, self.path, self.random = lines, language, path, random
        self.in_tests = languages.is_test(path)
        self.code_seen = False

    def read(self):
        i = 0
        while i < len(self.lines):
            if not self.lines[i].strip():
                i += 1
                continue
            comment = comments.comment_at(self.lines, i, self.language)
            if comment is None and self.language.name == "python" and not self.code_seen:
                comment = comments.string_at(self.lines, i)
            if comment is None:
                found, i = self._declaration(i)
            else:
                found, i = self._comment(i, *comment)
            yield from found
        yield from self._path()

    def _declaration(self, i):
        """What line i declares, without a comment before it."""
        line = self.lines[i]
        self.code_seen = self.code_seen or not _PREAMBLE.match(line.strip())
        name = blocks.declared_name(line)
        python = self.language.name == "python"
        if name is None or not python and blocks.indent(line) > 8:
            return [], i + 1
        if python and re.match(r"(async\s+)?(def|class)\b", line.strip()):
            docstring = comments.docstring_at(self.lines, i)
            if docstring:
                body, start, after = docstring
                stop = blocks.end(self.lines, i, limit=60 + after - i)
                code = "\n".join(self.lines[i:start] + self.lines[after : max(stop, after)])
                text = prose.clean(body)
                if prose.is_prose(text) and len(code) > 60:
                    return self._documented(text, code), after
        stop = blocks.end(self.lines, i)
        code = "\n".join(self.lines[i:stop])
        parts = words.split_identifier(name)
        if len(parts) >= 2 and stop - i >= 4 and len(code) > 120:
            return [("name", " ".join(parts), code)], i + 1
        return [], i + 1

    def _documented(self, text, code):
        found = [("testdoc" if self.in_tests else "doc", text, code)]
        if not self.in_tests:
            asked = questions.question(prose.first_sentence(text), self.language.name, self.random)
            if asked:
                found.append(("question", asked, code))
        return found

    def _comment(self, start, body, i):
        """What the comment from line start to line i (exclusive) is about."""
        if start < 12 and prose.is_legal(body):
            return [], i
        text = prose.clean(body)
        if not prose.is_prose(text):
            return [], i
        found = self._module(start, text, i)
        if i >= len(self.lines) or not self.lines[i].strip():
            return found, i
        at = blocks.after_attributes(self.lines, i)
        if at >= len(self.lines) or not self.lines[at].strip():
            return found, i
        if blocks.is_declaration(self.lines[at], self.language.name):
            stop = blocks.declaration_end(self.lines, at, self.language.name)
            code = "\n".join(self.lines[i:stop])
            if len(code) >= (60 if stop - at >= 3 else 90):
                found += self._documented(text, code)
            return found, i
        return found + self._inline(text, i), i

    def _module(self, start, text, i):
        """The file's own description, with a random place of it and with its start."""
        n = len(self.lines)
        follows = i < n and (not self.lines[i].strip() or self.language.name in ("go", "rust", "php"))
        if self.code_seen or start >= 40 or len(text) <= 50 or n <= 25 or not follows:
            return []
        at = self.random.randrange(i, max(i + 1, n - 25))
        found = [("module", text[:400], "\n".join(self.lines[at : at + 60]))]
        if self.random.random() < 0.5:
            found.append(("module", prose.first_sentence(text), "\n".join(self.lines[i : i + 60])))
        return found

    def _inline(self, text, i):
        """The statements below a comment up to an empty line."""
        base, stop = blocks.indent(self.lines[i]), i
        while stop < min(len(self.lines), i + 22) and self.lines[stop].strip() and blocks.indent(self.lines[stop]) >= base:
            stop += 1
        code = "\n".join(self.lines[i:stop])
        if self.in_tests or stop - i < 3 or len(code) <= 100 or len(text) <= 24:
            return []
        return [("inline", text, code)]

    def _path(self):
        if (len(self.lines) <= 15 or self.in_tests) and self.random.random() >= 0.3:
            return
        question = " ".join(words.of_path(self.path))
        stem = " ".join(words.split_identifier(self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]))
        if len(question) <= 4:
            return
        at = self.random.randrange(0, max(1, len(self.lines) - 40))
        code = "\n".join(self.lines[at : at + 60])
        if len(code) > 200:
            yield "path", stem if self.random.random() < 0.4 and len(stem) > 5 else question, code
