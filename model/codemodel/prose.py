"""Comments as prose: mark-up taken away, and what isn't worth learning from told."""

import re

_TAG = re.compile(
    r"^[@\\:](param|returns?|throws|exception|see|since|author|version|deprecated|raises?|type|rtype|arg|tparam|var|template"
    r"|private|public|static|memberof|inner|ignore|category|example|property|typedef|callback|package|subpackage|api|internal)\b"
)
_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Examples?|Yields|Attributes|Notes?|References|See Also"
    r"|# (Examples?|Panics|Errors|Safety|Arguments))\s*:?\s*$"
)
_EXAMPLE = ("```", ">>>", ".. ")
_SUMMARY = re.compile(r"^[@\\](brief|summary|description|short|doc|fileoverview|file|details)\s*")
# What is written for tools and lawyers.
_NOT_PROSE = re.compile(
    r"copyright|licen[cs]e|SPDX|all rights reserved|@generated|do not edit|eslint-|prettier-|nolint|noqa|pylint|clang-format"
    r"|rubocop:|istanbul|@ts-|go:build|\+build|shellcheck|ReSharper|phpcs|phpstan|psalm|inheritdoc|^(todo|fixme|xxx|hack)\b|coding:|-\*-"
    r"|^(end)?region|^pragma|^=====|^-----",
    re.IGNORECASE,
)
_MARKUP = (
    (re.compile(r"\{@\w+\s+([^}]*)\}"), r"\1"),
    (re.compile(r'<see\s+cref="[^"]*?(\w+)"\s*/>'), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,80}>"), " "),
    (re.compile(r"\[`?([\w:.]+)`?\](\([^)]*\))?"), r"\1"),
    (re.compile(r"https?://\S+"), ""),
    (re.compile(r"[`*]{1,3}(\S[^`*]*?)[`*]{1,3}"), r"\1"),
)
_SENTENCE = re.compile(r"(.{20,220}?[.!?])(\s+[A-Z]|\s*$)")


def clean(lines):
    """The comment's text up to its first tag, section or example, on one line."""
    kept = []
    for line in map(str.strip, lines):
        if _TAG.match(line) or _SECTION.match(line) or line.startswith(_EXAMPLE):
            break
        kept.append(_SUMMARY.sub("", line))
    text = " ".join(kept)
    if "<summary>" in text:
        text = text.split("<param", 1)[0]
    for pattern, by in _MARKUP:
        text = pattern.sub(by, text)
    return re.sub(r"\s+", " ", text).strip(" -*/#=~")


def is_legal(lines):
    return bool(re.search(r"copyright|licen[cs]e", " ".join(lines), re.IGNORECASE))


def is_prose(text):
    """Whether a cleaned comment says something in words: no directive, no code that
    was commented out, no table."""
    if len(text) < 12 or _NOT_PROSE.search(text[:120]):
        return False
    words = re.findall(r"[A-Za-z]{2,}", text)
    if len(words) < 3 or len(words) < 0.35 * len(text.split()):
        return False
    if text.rstrip().endswith((";", "{", "}")) or text.count("=") + text.count(";") > 2:
        return False
    return sum(ord(c) > 127 for c in text) < 0.1 * len(text)


def first_sentence(text):
    m = _SENTENCE.match(text)
    return m.group(1).rstrip(".") if m else text[:220]
