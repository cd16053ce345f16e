"""The file format of the table, CESM 1; engine/embed/static/doc.go describes it."""

import dataclasses
import pathlib
import struct
import zlib

import numpy as np

_HEADER = struct.Struct("<4sIIIf")
_VERSION = 1


@dataclasses.dataclass
class Table:
    """pieces: the vocabulary. rows: float32 [pieces, dimensions]. alpha: the exponent
    of a piece's count in a text."""

    pieces: list
    rows: np.ndarray
    alpha: float


def pack(table):
    """The table as bytes. Values are rounded to 127 steps of each row's largest."""
    rows = np.asarray(table.rows, np.float32)
    if rows.ndim != 2 or rows.shape[0] != len(table.pieces):
        raise ValueError(f"{len(table.pieces)} pieces and rows of shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("rows hold values that are not finite")
    scale = (np.abs(rows).max(1) / 127).astype(np.float16)
    # Steps of the scale as the reader sees it. A row too short for float16 is zero.
    steps = np.divide(rows, scale.astype(np.float32)[:, None], out=np.zeros_like(rows), where=scale[:, None] > 0)
    values = np.clip(np.round(steps), -127, 127).astype(np.int8)
    listed = zlib.compress("\n".join(table.pieces).encode(), 9)
    header = _HEADER.pack(b"CESM", _VERSION, *rows.shape, table.alpha)
    return header + scale.astype("<f2").tobytes() + values.tobytes() + struct.pack("<I", len(listed)) + listed


def unpack(data):
    """The table in the bytes. Raises ValueError for anything but a whole CESM 1
    file."""
    if len(data) < _HEADER.size:
        raise ValueError(f"{len(data)} bytes, the header alone has {_HEADER.size}")
    magic, version, n, dim, alpha = _HEADER.unpack_from(data)
    if magic != b"CESM" or version != _VERSION:
        raise ValueError(f"starts with {magic!r} version {version}, want CESM version {_VERSION}")
    rows_at = _HEADER.size + 2 * n
    list_at = rows_at + n * dim
    if len(data) < list_at + 4 or len(data) != list_at + 4 + struct.unpack_from("<I", data, list_at)[0]:
        raise ValueError(f"{len(data)} bytes do not hold {n} rows of {dim} values and their pieces")
    scale = np.frombuffer(data, "<f2", n, _HEADER.size).astype(np.float32)
    values = np.frombuffer(data, np.int8, n * dim, rows_at).reshape(n, dim)
    pieces = zlib.decompress(data[list_at + 4 :]).decode().split("\n")
    if len(pieces) != n:
        raise ValueError(f"{len(pieces)} pieces for {n} rows")
    return Table(pieces, values * scale[:, None], alpha)


def write(path, table):
    pathlib.Path(path).write_bytes(pack(table))


def read(path):
    try:
        return unpack(pathlib.Path(path).read_bytes())
    except (ValueError, zlib.error) as err:
        raise ValueError(f"reading model {path}: {err}") from err
