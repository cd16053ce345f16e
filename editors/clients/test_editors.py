"""Emacs with eglot, and Vim with ALE, as their set-up pages say."""

import hashlib
import pathlib
import shutil
import subprocess

import golden
from conftest import EDITORS, environment

HERE = pathlib.Path(__file__).parent


def drifting(workspace):
    """The hash of lines that a citation places wrongly."""
    lines = (workspace / "src/requests/cookies.py").read_text().split("\n")
    return hashlib.sha256("\n".join(lines[541:544]).encode()).hexdigest()[:8]


def run(command, workspace, env):
    out = subprocess.run(command, cwd=workspace, env=env, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
    return out.returncode, out.stdout + out.stderr


def prepared(workspace, tmp_path):
    """The environment of an editor that finds coderag-ls on its PATH."""
    program, sent = golden.recorder(tmp_path)
    env = environment(tmp_path) | {"CODERAG_TEST_PAGES": str(HERE.parents[1] / "docs/editors"), "LC_ALL": "C.UTF-8"}
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    return env, sent


def test_eglot(workspace, tmp_path):
    env, sent = prepared(workspace, tmp_path)
    env["CODERAG_TEST_SHA8"] = drifting(workspace)
    code, said = run([str(EDITORS / "bin/emacs"), "-Q", "--batch", "-l", str(HERE / "eglot.el")], workspace, env)
    assert code == 0, said
    assert said.count("ok ") >= 9 and "not ok" not in said, said
    golden.check("eglot", sent)


def test_vim_ale(workspace, tmp_path):
    ours = EDITORS / "bin/vim"
    vim = str(ours) if ours.exists() else shutil.which("vim")
    (workspace / "drift.py").write_text(f"# src/requests/cookies.py:1-3 sha256:{drifting(workspace)}\n")
    out = tmp_path / "out"
    env, sent = prepared(workspace, tmp_path)
    env |= {"CODERAG_TEST_OUT": str(out), "CODERAG_TEST_ALE": str(EDITORS / "vim-ale/usr/share/vim-ale"), "TERM": "dumb"}
    code, said = run([vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", str(HERE / "ale.vim")], workspace, env)
    told = out.read_text() if out.exists() else ""
    assert code == 0, told + said
    assert told.count("ok ") == 4, told
    golden.check("ale", sent)


def test_neovim(workspace, tmp_path):
    """That it works is tested in editors/neovim/tests; this is what it sends."""
    env, sent = prepared(workspace, tmp_path)
    plugin = HERE.parent / "neovim"
    wait = "vim.wait(60000, function() local c = vim.lsp.get_clients()[1] return c and c.initialized end, 10)"
    code, said = run(
        [str(EDITORS / "bin/nvim"), "--clean", "--headless", "-u", "NONE", "--cmd", f"set rtp^={plugin} noswapfile",
         "+lua vim.lsp.enable('coderag')", "+edit setup.py", "+filetype on", "+edit", f"+lua assert({wait})", "+qa!"],
        workspace, env,
    )
    assert code == 0, said
    golden.check("neovim-0.11", sent)
