#!/usr/bin/env python3
"""Sizing of a shared index: from measurements of small ones to 25 million chunks.

    scripts/shared-sizing.py [docs/shared-index-measured.jsonl]

Reads the lines that internal/sharedbench prints and extrapolates what grows with
the number of chunks, how long a search for words takes too: per node, as the line through the first and the
last size of a quantisation (what a node takes when it is empty is the rest). Standard library only. The
prices are assumptions, given below; change them to yours.
"""

import json
import math
import sys

SIZES = (300_000, 1_000_000, 5_000_000, 25_000_000)
# Go's collector lets the heap grow before it collects: memory per live byte.
GC = 1.5
# Share of what is on disk that should fit into memory, as page cache: the
# postings' words and the graph's vectors are read from it.
CACHED = 0.10
# Room on disk for compaction, and for a second edition beside the first.
ROOM = 2.0
# EUR a month: a GB of memory with its share of a processor, and a GB of SSD.
MEMORY, DISK = 4.0, 0.10
REPLICAS = 3
GB = 1e9


def read(path):
    by = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                m = json.loads(line)
                by.setdefault((m["index"], m["quantization"]), []).append(m)
    return {k: sorted(v, key=lambda m: m["chunks"]) for k, v in by.items()}


def disk(m):
    return sum(m["diskBytes"].values())


def slope(ms, value):
    a, b = ms[0], ms[-1]
    return (value(b) - value(a)) / (b["chunks"] - a["chunks"])


def measured(by):
    print("Measured, per node of three\n")
    print("| vectors | chunks | files | source text MB | disk MB | live heap MB | resident MB | chunks/s | words ms (p95) | nearest ms (p95) | 24 documents ms (p95) | words ms, just after publishing |")
    print("|---|" + "--:|" * 11)
    for (index, quantization), ms in by.items():
        for m in ms:
            t = m["restMillis"]
            cells = [f"{m['chunks']:,}", f"{m['files']:,}", f"{m['textBytes'] / 1e6:.1f}", f"{disk(m) / 1e6:.0f}", f"{m['heapBytes'] / 1e6:.0f}",
                     f"{m['rssBytes'] / 1e6:.0f}", f"{m['chunksPerSecond']:.0f}"]
            cells += [f"{t[k][0]:.0f} ({t[k][1]:.0f})" for k in ("words", "nearest", "documents")]
            cells += [f"{m['millis']['words'][0]:.0f} ({m['millis']['words'][1]:.0f})"]
            print(f"| {index} {quantization} | " + " | ".join(cells) + " |")


def parts(by):
    """Bytes on disk per chunk by what holds them, of the largest measurement's run."""
    ms = max(by.values(), key=lambda ms: ms[-1]["chunks"])
    groups = {
        "postings: object (words, vector)": lambda k: k == "coderagposting.objects",
        "postings: BM25 by field": lambda k: k.startswith("coderagposting.") and k.endswith("_searchable"),
        "postings: vectors and graph": lambda k: k in ("coderagposting.vectors", "coderagposting.vectors_compressed", "coderagposting.hnsw"),
        "documents: text, record, int8 vectors": lambda k: k == "coderagdocument.objects",
        "how often words occur, manifests": lambda k: k == "coderagstate.objects",
    }
    rest = dict.fromkeys(ms[-1]["diskBytes"])
    print(f"\nBytes on disk per chunk and node ({ms[0]['index']} {ms[0]['quantization']}, from {ms[0]['chunks']:,} to {ms[-1]['chunks']:,} chunks)\n")
    print("| what | bytes |\n|---|--:|")
    for name, holds in groups.items():
        keys = [k for k in rest if holds(k)]
        for k in keys:
            del rest[k]
        print(f"| {name} | {slope(ms, lambda m: sum(m['diskBytes'].get(k, 0) for k in keys)):,.0f} |")
    print(f"| the rest | {slope(ms, lambda m: sum(m['diskBytes'].get(k, 0) for k in rest)):,.0f} |")
    print(f"| **together** | **{slope(ms, disk):,.0f}** |")


def extrapolated(by):
    print(f"\nExtrapolated: {REPLICAS} nodes that hold everything. Memory: live heap x {GC} and {CACHED:.0%} of the disk's content; "
          f"disk: content x {ROOM:g}; {MEMORY:g} EUR per GB of memory, {DISK:g} EUR per GB of SSD and month\n")
    print("| vectors | chunks | heap bytes/chunk | heap GB | memory GB/node | disk GB/node | first publication, at the measured rate | words ms | EUR/month, all nodes |")
    print("|---|" + "--:|" * 8)
    base = next((ms for ms in by.values() if len(ms) > 1), None)
    if base is None:
        sys.exit("shared-sizing: no quantisation was measured at two sizes, so that nothing can be extrapolated")
    dim = base[0]["dim"]
    values = {"none": 4 * dim, "rq": dim, "sq": dim, "bq": dim // 8}
    for (index, quantization), ms in by.items():
        if len(ms) < 2:
            # One size only: the others' slope, with values of another width.
            heap = slope(base, lambda m: m["heapBytes"]) + values[quantization] - values[base[0]["quantization"]]
            ms = base
        else:
            heap = slope(ms, lambda m: m["heapBytes"])
        # Never less than the vectors themselves and a graph of 64 links of 4 bytes with 100 for its node:
        # small measurements lie within the collector's noise.
        heap = max(heap, values[quantization] + 64 * 4 + 100)
        rate = ms[-1]["chunksPerSecond"]
        for n in SIZES:
            live = ms[0]["heapBytes"] + heap * n
            content = disk(ms[0]) + slope(ms, disk) * n
            memory = math.ceil((live * GC + content * CACHED) / GB)
            space = math.ceil(content * ROOM / GB)
            words = ms[0]["restMillis"]["words"][0] + slope(ms, lambda m: m["restMillis"]["words"][0]) * n
            cost = REPLICAS * (memory * MEMORY + space * DISK)
            print(f"| {index} {quantization} | {n:,} | {heap:,.0f} | {live / GB:.1f} | {memory:,} | {space:,} | {n / rate / 3600:,.1f} h | {words:,.0f} | {cost:,.0f} |")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "docs/shared-index-measured.jsonl"
    try:
        by = read(path)
    except (OSError, ValueError, KeyError) as err:
        sys.exit(f"shared-sizing: {path}: {err}: internal/sharedbench prints what it wants")
    if not by:
        sys.exit(f"shared-sizing: {path} holds no measurement")
    measured(by)
    parts(by)
    extrapolated(by)


if __name__ == "__main__":
    main()
