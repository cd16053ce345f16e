"""Declarations and their extent, by indentation alone: good enough for twenty
languages, and a pair with a line too many does no harm."""

import re

_KEYWORD = re.compile(
    r"\b(?:func|function|def|defp|defmacro|fn|class|struct|interface|enum|type|trait|module|object|fun|sub|record|protocol"
    r"|extension|namespace|union|typedef|macro_rules!|data|newtype|instance)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_][\w$]*[?!]?)"
)
_CALL = re.compile(r"([A-Za-z_][\w$]*)\s*(?:<[^>]*>)?\(")
_MODIFIER = re.compile(
    r"^(export|public|private|protected|static|internal|pub|override|abstract|virtual|inline|extern|const|constexpr|async|open"
    r"|final|suspend|lazy|implicit|given)\b"
)
_STATEMENT = re.compile(r"^(if|for|while|switch|return)\b")
_CLOSING = re.compile(r"^([})\]]|end\b|fi\b|done\b|esac\b|\{\s*$|where\b|else\b|rescue\b|ensure\b|\|)")
_LAST = re.compile(r"^(\}|end\b)\s*[;,)]*\s*$")
_ATTRIBUTE = re.compile(
    r"^(@[\w.]+(\(.*\))?\s*$|#!?\[.*\]\s*$|\[[A-Z].*\]\s*$|template\s*<.*>\s*$|@(spec|impl|deprecated|since)\b)"
)


def indent(line):
    return len(line) - len(line.lstrip())


def declared_name(line):
    """The name that a line declares with a keyword, None if it doesn't."""
    if line.lstrip().startswith(("return", "if", "else")):
        return None
    m = _KEYWORD.search(line)
    return m.group(1) if m else None


def is_declaration(line, language):
    text = line.strip()
    if _KEYWORD.search(line) or _MODIFIER.match(text) or text.endswith("::"):
        return True
    if language == "haskell":
        return "::" in text
    return indent(line) <= 4 and bool(_CALL.search(line)) and not text.endswith(";") and not _STATEMENT.match(text)


def after_attributes(lines, i):
    """The line of the declaration that attributes at line i belong to."""
    end = min(len(lines), i + 6)
    while i < end and _ATTRIBUTE.match(lines[i].strip()):
        i += 1
    return i


def end(lines, i, limit=55):
    """Where the block ends that line i starts (exclusive): at the first line that is
    not indented deeper, closing brackets and words left out of account."""
    base, depth, last = indent(lines[i]), _depth(lines[i]), i + 1
    for j in range(i + 1, min(len(lines), i + limit)):
        line = lines[j]
        text = line.strip()
        if not text:
            continue
        same = indent(line) == base and _CLOSING.match(text)
        if not (indent(line) > base or depth > 0 or same):
            break
        depth += _depth(line)
        last = j + 1
        if same and _LAST.match(text):
            break
    return last


def declaration_end(lines, i, language):
    """Like end, for languages whose declarations take more than one line before
    the block."""
    stop = end(lines, i)
    if language in ("c", "cpp") and stop - i <= 2 and indent(lines[i]) == 0:
        if i + 1 < len(lines) and not lines[i].rstrip().endswith(";"):  # the return type has a line of its own
            stop = max(stop, end(lines, i + 1))
    if language == "haskell" and stop - i <= 2:
        while stop < len(lines) and stop - i < 25 and lines[stop].strip():
            stop += 1
    return stop


def _depth(line):
    return line.count("(") - line.count(")")
