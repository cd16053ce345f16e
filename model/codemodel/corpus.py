"""The files of a source: a git mirror, a standard library, a package.

Every reader yields (path, text) of the files that languages.of knows, at most
MAX_FILES of them, chosen by the hash of their path so that a rerun reads the same.
"""

import hashlib
import pathlib
import subprocess
import sysconfig
import tarfile
import zipfile

from . import languages
from .sources import SourceError

MAX_FILES = 1500
MAX_FILES_OF_LIBRARY = 3000
_BYTES = range(81, 400_000)


class Places:
    """Where sources lie: mirrors holds <owner>+<name>[/repo] git directories,
    packages wheels and sdists as `pip download` leaves them."""

    def __init__(self, mirrors=None, packages=None):
        self.mirrors = pathlib.Path(mirrors) if mirrors else None
        self.packages = pathlib.Path(packages) if packages else None

    def find(self, source):
        """The source's folder or file, None if this machine hasn't got it."""
        if source.kind == "goroot":
            return _goroot()
        if source.kind == "stdlib":
            return pathlib.Path(sysconfig.get_paths()["stdlib"])
        if source.kind == "package":
            if self.packages is None:
                return None
            stem = f"{source.name}-{source.revision}"
            found = [p for p in sorted(self.packages.glob(f"{source.name}*")) if p.name.lower().startswith(stem.lower())]
            return found[0] if found else None
        if self.mirrors is None:
            return None
        mirror = self.mirrors / source.file_name
        for git_dir in (mirror / "repo", mirror, mirror / ".git"):
            if (git_dir / "HEAD").is_file():
                return git_dir
        return None


def read(source, place, deny):
    """The source's files. Raises SourceError for a denied source, for a mirror
    without the pinned commit and for a package that is no archive."""
    deny.check(source.name)
    if source.kind == "git":
        check_mirror(source, place, deny)
        files = _git(place, source.revision)
    elif source.kind == "package":
        files = _archive(place)
    else:
        files = _folder(place)
    for path, data in files:
        if deny.refuses_path(path) or b"\0" in data[:4000]:
            continue
        yield path, data.decode("utf-8", "replace")


def check_mirror(source, git_dir, deny):
    """Raises SourceError where the mirror lacks the pinned commit, or was cloned
    from a denied repository whatever its folder is called."""
    origin = _run(git_dir, "config", "--get", "remote.origin.url").stdout.decode().strip()
    if origin:
        deny.check("/".join(origin.removesuffix(".git").replace(":", "/").split("/")[-2:]))
    if _run(git_dir, "cat-file", "-e", f"{source.revision}^{{commit}}").returncode != 0:
        raise SourceError(f"mirror {git_dir} of {source.name} has no commit {source.revision}; fetch it anew")


def _run(git_dir, *arguments):
    return subprocess.run(["git", "--git-dir", str(git_dir), *arguments], capture_output=True, check=False)


def _goroot():
    try:
        done = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return pathlib.Path(done.stdout.strip()) / "src"


def _hash(path):
    return hashlib.md5(path.encode("utf-8", "replace"), usedforsecurity=False).digest()


def _choose(paths, limit):
    """The files to read: those of a known language, a quarter of the tests, at most
    limit."""
    known = [p for p in paths if languages.of(p) and "\n" not in p]
    known = [p for p in known if not languages.is_test(p) or _hash(p)[0] < 64]
    return sorted(sorted(known, key=_hash)[:limit])


def _git(git_dir, revision):
    listed = _run(git_dir, "ls-tree", "-r", "--name-only", "-z", revision)
    paths = _choose(listed.stdout.decode("utf-8", "replace").split("\0"), MAX_FILES)
    # One process for all files; it tolerates snapshots whose largest blobs are
    # absent.
    with subprocess.Popen(
        ["git", "--git-dir", str(git_dir), "cat-file", "--batch"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as batch:
        for path in paths:
            batch.stdin.write(f"{revision}:{path}\n".encode())
            batch.stdin.flush()
            header = batch.stdout.readline().split()
            if len(header) < 3 or not header[-1].isdigit():
                continue
            data = batch.stdout.read(int(header[-1]) + 1)[:-1]
            if header[-2] == b"blob" and len(data) in _BYTES:
                yield path, data
        batch.stdin.close()


def _folder(root):
    paths = {}
    for file in root.rglob("*"):
        path = file.relative_to(root).as_posix()
        if languages.of(path) and file.is_file() and not file.is_symlink() and file.stat().st_size in _BYTES:
            paths[path] = file
    for path in _choose(paths, MAX_FILES_OF_LIBRARY):
        yield path, paths[path].read_bytes()


def _archive(file):
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as z:
            sizes = {i.filename: i.file_size for i in z.infolist()}
            for path in _choose([p for p, size in sizes.items() if size in _BYTES], MAX_FILES):
                yield path, z.read(path)
    elif tarfile.is_tarfile(file):
        with tarfile.open(file) as t:
            members = {m.name: m for m in t.getmembers() if m.isfile() and m.size in _BYTES}
            for path in _choose(members, MAX_FILES):
                yield path, t.extractfile(members[path]).read()
    else:
        raise SourceError(f"{file} is neither a wheel nor an sdist")
