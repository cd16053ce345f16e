"""Comments that have their lines to themselves."""

import re

_LEADER = re.compile(r"^(/{2,}!?|/\*+!?|\*+(?!/)|#+|-{2,}(\[\[)?\s*[|^]?|\{-\s*\|?)")
_TRAILER = re.compile(r"(\*+/|-\}|\]\]).*$")


def comment_at(lines, i, language):
    """The comment that starts at line i: its lines without marks, and the line
    after it. None if there is none."""
    text = lines[i].strip()
    for opening, closing in language.block:
        if text.startswith(opening) and not text.startswith("{-#"):
            return _block(lines, i, opening, closing)
    mark = next((m for m in language.line if text.startswith(m)), None)
    if mark is None or text.startswith("#!") or text.startswith("#["):
        return None
    j = i
    while j < len(lines) and lines[j].strip().startswith(mark):
        j += 1
    return [_LEADER.sub("", line.strip()).strip() for line in lines[i:j]], j


def _block(lines, i, opening, closing):
    if opening.startswith("@"):  # Elixir: the text starts on the next line
        j = i + 1
        while j < len(lines) and lines[j].strip() != closing:
            j += 1
        return [line.strip() for line in lines[i + 1 : j]], min(j + 1, len(lines))
    j = i
    at = lines[i].index(opening) + len(opening)
    while j < len(lines) and closing not in lines[j][at if j == i else 0 :]:
        j += 1
    body = [_TRAILER.sub("", _LEADER.sub("", line.strip())).strip() for line in lines[i : j + 1]]
    return body, min(j + 1, len(lines))


def docstring_at(lines, i):
    """The docstring of the Python definition at line i: its lines, and the lines
    where it starts and that follow it. None if it has none."""
    k = i
    while k < min(len(lines), i + 25) and not lines[k].rstrip().endswith(":"):
        k += 1
    found = string_at(lines, k + 1)
    return found and (found[0], k + 1, found[1])


def string_at(lines, i):
    """The lines of the triple-quoted string that line i starts with, and the line
    after it. None if there is none."""
    if i >= len(lines):
        return None
    m = re.match(r'[rRuUbB]*("""|\'\'\')', lines[i].strip())
    if not m:
        return None
    quote, first = m.group(1), lines[i].strip()[m.end() :]
    if quote in first:
        return [first[: first.index(quote)]], i + 1
    body, j = [first], i + 1
    while j < len(lines) and quote not in lines[j]:
        body.append(lines[j].strip())
        j += 1
    if j < len(lines):
        body.append(lines[j].strip().split(quote)[0])
    return body, min(j + 1, len(lines))
