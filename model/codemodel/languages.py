"""Which files are read, and how their languages write comments."""

import dataclasses
import posixpath
import re


@dataclasses.dataclass(frozen=True)
class Language:
    """name: as in the pairs. line: what starts a line comment. block: opening and
    closing of a block comment. markdown and Python's docstrings have their own
    readers in pairs.py."""

    name: str
    line: tuple = ("//",)
    block: tuple = (("/*", "*/"),)


_HASH = {"line": ("#",), "block": ()}
_BY_EXTENSION = {
    "go": Language("go"), "py": Language("python", **_HASH),
    "js mjs cjs jsx": Language("javascript"), "ts tsx": Language("typescript"),
    "java": Language("java"), "rs": Language("rust"), "c h": Language("c"),
    "cc cpp cxx hpp hh": Language("cpp"), "rb": Language("ruby", **_HASH),
    "php": Language("php"), "cs": Language("csharp"), "kt kts": Language("kotlin"),
    "scala": Language("scala"), "swift": Language("swift"),
    "ex exs": Language("elixir", ("#",), (('@moduledoc """', '"""'), ('@doc """', '"""'), ('@typedoc """', '"""'))),
    "lua": Language("lua", ("--",), (("--[[", "]]"),)),
    "hs": Language("haskell", ("--",), (("{-", "-}"),)),
    "zig": Language("zig", ("//",), ()), "sh bash zsh bats": Language("bash", **_HASH),
    "md": Language("markdown", (), ()),
}
EXTENSIONS = {e: language for names, language in _BY_EXTENSION.items() for e in names.split()}
NAMES = tuple(sorted({language.name for language in EXTENSIONS.values()}))

# Folders of copies, generated files and data.
_FOLDERS = frozenset(
    """vendor _vendor third_party third-party thirdparty 3rdparty contrib node_modules extern external externals
    deps dist build generated gen testdata fixture fixtures __snapshots__ __pycache__ locale locales i18n translations
    site-packages min bundled pb mock mocks .git .yarn hiredis""".split()
)
_FILES = re.compile(
    r"\.min\.js$|_pb2?\.py$|\.pb\.(go|cc|h)$|\.g\.cs$|\.designer\.cs$|_generated\.|zz_generated|bindata|\.snap$"
    r"|(^|/)(sds|json)\.(c|h|hpp)$",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|test-d)(/|$)|(_test|\.test|\.spec|_spec|Tests?)\.[a-zA-Z]+$|(^|/)test_"
)


def of(path):
    """The language of the file, None if it isn't read."""
    extension = posixpath.splitext(path)[1].lstrip(".").lower()
    if extension not in EXTENSIONS or _FILES.search(path):
        return None
    if any(folder.lower() in _FOLDERS for folder in path.split("/")[:-1]):
        return None
    return EXTENSIONS[extension]


def is_test(path):
    return bool(_TESTS.search(path))
