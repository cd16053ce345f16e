"""What a real client sends with initialize, held against the golden that the
server's scripted sessions are played with (lsp/lsptest/clients)."""

import json
import os
import pathlib
import re

from conftest import PROGRAM

CLIENTS = pathlib.Path(__file__).parents[2] / "lsp" / "lsptest" / "clients"


def recorder(tmp_path):
    """A program that runs the server and keeps what it is sent."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    program, sent = tmp_path / "bin" / "coderag-ls", tmp_path / "sent"
    program.write_text(f'#!/bin/sh\nif [ "$1" != serve ]; then exec "{PROGRAM}" "$@"; fi\ntee "{sent}" | "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    return program, sent


def check(name, sent):
    """The capabilities are those of the golden; UPDATE=1 writes it anew."""
    raw = sent.read_bytes()
    head = re.match(rb"(?:[^\r\n]+\r\n)*?Content-Length: *(\d+)\r\n(?:[^\r\n]+\r\n)*\r\n", raw)
    message = json.loads(raw[head.end() : head.end() + int(head[1])])
    assert message["method"] == "initialize"
    got = json.dumps(message["params"]["capabilities"], indent=2, sort_keys=True) + "\n"
    path = CLIENTS / f"{name}.json"
    if os.environ.get("UPDATE") == "1":
        path.write_text(got)
    assert got == path.read_text(), f"{name} sends other capabilities than {path}: UPDATE=1 writes it anew"
