"""What the client tests share: the program, a workspace, the last line."""

import os
import pathlib
import shutil
import subprocess

import pytest

PROGRAM = os.environ["CODERAG_TEST_BIN"]
EDITORS = pathlib.Path(os.environ["CODERAG_TEST_EDITORS"])


def environment(tmp):
    """An environment with folders of its own."""
    env = dict(os.environ, CODERAG_INDEX_CACHE_DIR=str(tmp / "index"), CODERAG_EMBED_PROVIDER="static", HOME=str(tmp / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        env[name] = str(tmp / "home" / name.lower())
    (tmp / "home").mkdir(exist_ok=True)
    return env


@pytest.fixture
def workspace(tmp_path):
    """A copy of a real repository."""
    to = tmp_path / "requests"
    shutil.copytree(os.environ["CODERAG_TEST_CORPUS"], to)
    subprocess.run(["git", "init", "-q", str(to)], check=True)
    return to.resolve()


def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter:
        failed = len(reporter.stats.get("failed", [])) + len(reporter.stats.get("error", []))
        reporter.write_line(f"{len(reporter.stats.get('passed', []))} passed, {failed} failed")
