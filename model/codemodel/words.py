"""Words of identifiers and paths."""

import re

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Folders that say nothing about a file.
_PLACES = frozenset("src main lib java org com internal pkg index".split())


def split_identifier(name):
    """`HTTPServer_loop2` -> http, server, loop, 2."""
    return [part.lower() for part in _PART.findall(name)]


def of_path(path):
    """The words of the last two folders and the file's name without extension."""
    stem = path.rsplit(".", 1)[0]
    return [w for part in stem.split("/")[-3:] for w in split_identifier(part) if w not in _PLACES]
