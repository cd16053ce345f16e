"""Emacs with eglot, and Vim with ALE, as their set-up pages say."""

import hashlib
import pathlib
import shutil
import subprocess

from conftest import EDITORS, PROGRAM, environment

HERE = pathlib.Path(__file__).parent


def drifting(workspace):
    """The hash of lines that a citation places wrongly."""
    lines = (workspace / "src/requests/cookies.py").read_text().split("\n")
    return hashlib.sha256("\n".join(lines[541:544]).encode()).hexdigest()[:8]


def run(command, workspace, env):
    out = subprocess.run(command, cwd=workspace, env=env, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
    return out.returncode, out.stdout + out.stderr


def test_eglot(workspace, tmp_path):
    env = environment(tmp_path) | {"CODERAG_TEST_BIN": PROGRAM, "CODERAG_TEST_SHA8": drifting(workspace), "LC_ALL": "C.UTF-8"}
    code, said = run([str(EDITORS / "bin/emacs"), "-Q", "--batch", "-l", str(HERE / "eglot.el")], workspace, env)
    assert code == 0, said
    assert said.count("ok ") >= 8 and "not ok" not in said, said


def test_vim_ale(workspace, tmp_path):
    ours = EDITORS / "bin/vim"
    vim = str(ours) if ours.exists() else shutil.which("vim")
    (workspace / "drift.py").write_text(f"# src/requests/cookies.py:1-3 sha256:{drifting(workspace)}\n")
    out = tmp_path / "out"
    env = environment(tmp_path) | {
        "CODERAG_TEST_BIN": PROGRAM,
        "CODERAG_TEST_OUT": str(out),
        "CODERAG_TEST_ALE": str(EDITORS / "vim-ale/usr/share/vim-ale"),
        "TERM": "dumb",
    }
    code, said = run([vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", str(HERE / "ale.vim")], workspace, env)
    told = out.read_text() if out.exists() else ""
    assert code == 0, told + said
    assert told.count("ok ") == 3, told
