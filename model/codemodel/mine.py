"""Mines the pairs of all sources that this machine has, one file for each."""

import collections
import gzip
import hashlib
import json
import multiprocessing
import pathlib
import random
import re

from . import commits, corpus, pairs

# Most pairs of a kind from one source, so that none of them outweighs the rest.
CAPS = {
    "doc": 9000, "testdoc": 500, "question": 4500, "name": 4000, "inline": 4000, "module": 1500, "path": 2500,
    "heading": 1500, "commit": 1500,
}


def mine_source(source, place, deny):
    """The source's pairs by kind, doubles left out, at most CAPS of each, the same
    in every run."""
    # The hash of the name, not the name: a seed must not depend on how Python
    # hashes strings.
    rnd = random.Random(hashlib.md5(source.name.encode(), usedforsecurity=False).hexdigest())
    found, seen = collections.defaultdict(list), set()

    def add(pair):
        key = _key(pair)
        if key not in seen:
            seen.add(key)
            found[pair.kind].append(pair)

    for path, text in corpus.read(source, place, deny):
        for pair in pairs.extract(text, path, rnd):
            add(pair)
    if source.kind == "git":
        for pair in commits.extract(place, source.revision, deny.refuses_path):
            add(pair)
    return {kind: rnd.sample(some, CAPS[kind]) if len(some) > CAPS[kind] else some for kind, some in found.items()}


def _key(pair):
    question = re.sub(r"\W+", "", pair.question.lower())
    code = re.sub(r"\s+", "", pair.code[:300])
    return hashlib.md5(f"{question}|{code}".encode("utf-8", "replace"), usedforsecurity=False).digest()[:8]


def write(path, source, found):
    """Writes a gzip file of one JSON object per pair; the file appears whole or not
    at all."""
    part = path.with_suffix(".part")
    with gzip.GzipFile(part, "wb", compresslevel=3, mtime=0) as f:
        for kind in pairs.KINDS:
            for p in found.get(kind, ()):
                row = {"kind": p.kind, "language": p.language, "source": source.name, "path": p.path}
                row |= {"question": p.question, "code": p.code}
                f.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
    part.replace(path)


def mine_all(sources, places, deny, out, processes=2, report=print):
    """Mines what isn't yet in folder out. Returns the names of the sources that
    this machine lacks."""
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    jobs, missing = [], []
    for source in sources:
        deny.check(source.name)
        place = places.find(source)
        path = out / f"{source.file_name}.jsonl.gz"
        if place is None:
            missing.append(source.name)
        elif not path.exists():
            jobs.append((source, place, deny, path))
    if processes > 1 and len(jobs) > 1:
        with multiprocessing.Pool(processes) as pool:
            for line in pool.imap_unordered(_job, jobs):
                report(line)
    else:
        for job in jobs:
            report(_job(job))
    return missing


def _job(job):
    source, place, deny, path = job
    found = mine_source(source, place, deny)
    write(path, source, found)
    return f"{source.name}: " + ", ".join(f"{kind} {len(found[kind])}" for kind in pairs.KINDS if kind in found)
