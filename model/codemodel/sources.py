"""What the model learns from, and what it never does.

``sources.tsv`` names every source with its licence and revision.
``deny.txt`` names the repositories that questions of an evaluation are asked
about; every stage that reads code asks ``DenyList`` first, so that a line added
to sources.tsv by mistake stops the run instead of spoiling the measurements.
"""

import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent.parent

# Licences under which a source may be used. Text of the source is never part of
# the table; they are permissive nevertheless, so that nobody has to argue.
LICENCES = frozenset(
    "Apache-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 HPND ISC MIT PostgreSQL PSF-2.0 Zlib".split()
)
KINDS = ("git", "goroot", "stdlib", "package")
SPLITS = ("train", "validation")


class SourceError(Exception):
    """A source that must not or cannot be used; the message says which and why."""


@dataclasses.dataclass(frozen=True)
class Source:
    """One line of sources.tsv.

    kind: git (a mirror of a GitHub repository), goroot (Go's standard library),
    stdlib (Python's), package (a wheel or sdist of a registry).
    revision: a commit for git, a version otherwise.
    """

    name: str
    kind: str
    licence: str
    revision: str
    split: str

    @property
    def file_name(self):
        return self.name.replace("/", "+")


class DenyList:
    """Repositories that are never learnt from, under any name they come by."""

    def __init__(self, repositories):
        self.repositories = frozenset(r.lower() for r in repositories)
        self.names = frozenset(_plain(r.rsplit("/", 1)[-1]) for r in self.repositories)

    @classmethod
    def load(cls, path=HERE / "deny.txt"):
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        return cls(line.strip() for line in lines if line.strip() and not line.startswith("#"))

    def refuses(self, name):
        """Whether the source of this name is denied. A package has the name of a
        repository's last part, so that `requests` is refused for psf/requests."""
        name = name.lower()
        if "/" in name:
            return name in self.repositories
        return _plain(name) in self.names

    def check(self, name):
        """Raises SourceError for a denied source."""
        if self.refuses(name):
            raise SourceError(f"{name} is in deny.txt: evaluations ask about it, so it is never learnt from")

    def refuses_path(self, path):
        """Whether a file lies in a folder named like a denied repository, as
        copies of other projects do. Harmless folders are lost by this; a
        copy of an evaluation's files would do more harm."""
        return any(_plain(part) in self.names for part in path.split("/")[:-1])


def _plain(name):
    return re.sub(r"[-_.]", "", name.lower())


def load(path=HERE / "sources.tsv", deny=None):
    """The sources in the file's order. Raises SourceError for a denied or doubled
    one, for a licence that is not in LICENCES, and for a malformed line."""
    deny = deny or DenyList.load()
    sources = []
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        at = f"{path}:{number}"
        fields = line.split("\t")
        if len(fields) != 5:
            raise SourceError(f"{at}: {len(fields)} columns, want 5: name, kind, licence, revision, split")
        source = Source(*fields)
        if source.kind not in KINDS:
            raise SourceError(f"{at}: kind {source.kind!r}, want one of {', '.join(KINDS)}")
        if source.licence not in LICENCES:
            raise SourceError(f"{at}: {source.name} is under {source.licence!r}, which is not in the list of licences")
        if source.split not in SPLITS:
            raise SourceError(f"{at}: split {source.split!r}, want one of {', '.join(SPLITS)}")
        if not source.revision:
            raise SourceError(f"{at}: {source.name} has no revision")
        try:
            deny.check(source.name)
        except SourceError as err:
            raise SourceError(f"{at}: {err}") from None
        if any(s.name.lower() == source.name.lower() for s in sources):
            raise SourceError(f"{at}: {source.name} is listed twice")
        sources.append(source)
    if not sources:
        raise SourceError(f"{path} lists no source")
    return sources
