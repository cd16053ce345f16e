"""Every method, as clients with the capabilities of real editors call it."""

import asyncio
import hashlib
import json

import pytest
from conftest import PROGRAM, environment
from lsprotocol import converters
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

CLIENTS = ["neovim", "visual_studio_code", "emacs"]
QUESTION = "how are cookies merged into a session?"


async def started(name, workspace, tmp_path):
    config = ClientServerConfig(server_command=[PROGRAM, "serve", "--stdio"], server_env=environment(tmp_path))
    client = await config.start()
    params = t.InitializeParams(
        capabilities=client_capabilities(name),
        root_uri=workspace.as_uri(),
        workspace_folders=[t.WorkspaceFolder(workspace.as_uri(), workspace.name)],
    )
    client.told = asyncio.Queue()
    client.feature("coderag/statusChanged")(lambda status: client.told.put_nowait(status))
    client.init_result = await client.initialize_session(params)
    await call(client, "coderag/sync", {"scan": True})
    return client


async def call(client, method, params=None):
    return plain(await client.protocol.send_request_async(method, params if params is not None else {}))


def plain(value):
    """pygls makes objects of what it does not know."""
    if hasattr(value, "_asdict"):
        return {k: plain(v) for k, v in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


@pytest.fixture(params=CLIENTS)
def name(request):
    return request.param


class Session:
    """A client's session that ends with its test."""

    def __init__(self, name, workspace, tmp_path):
        self.args = (name, workspace, tmp_path)

    async def __aenter__(self):
        self.client = await started(*self.args)
        return self.client

    async def __aexit__(self, *_):
        await self.client.shutdown_session()
        await self.client.stop()


def opened(client, path, text=None, language="python"):
    text = path.read_text() if text is None else text
    client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(path.as_uri(), language, 1, text)))
    return text


def position(text, word):
    """Where a word begins; the lines before it are ASCII in these tests."""
    before = text[: text.index(word)]
    return t.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


@pytest.mark.asyncio
async def test_capabilities(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        got = client.init_result.capabilities
        assert got.text_document_sync.change == t.TextDocumentSyncKind.Incremental
        assert got.hover_provider and got.code_action_provider and got.document_link_provider.resolve_provider
        assert "coderag.server.ask" in got.execute_command_provider.commands
        assert client.init_result.server_info.name == "coderag-ls"


@pytest.mark.asyncio
async def test_ask_streams_and_citations_hold(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        path = workspace / "src/requests/cookies.py"
        text = opened(client, path)
        client.text_document_did_change(
            t.DidChangeTextDocumentParams(
                t.VersionedTextDocumentIdentifier(2, path.as_uri()),
                [t.TextDocumentContentChangePartial(range=t.Range(t.Position(0, 0), t.Position(0, 0)), text="# new 🎉\n")],
            )
        )
        buffer = "# new 🎉\n" + text
        result = await call(client, "coderag/ask", {"query": "what does merge_cookies do?", "filters": {}, "workDoneToken": "w", "partialResultToken": "p"})
        assert result["citations"] and not result["noAnswer"]
        for cited in result["citations"]:
            content = buffer if cited["uri"] == path.as_uri() else (workspace / cited["path"]).read_text()
            lines = content.split("\n")[cited["startLine"] - 1 : cited["endLine"]]
            assert "\n".join(lines) == cited["text"]
            assert hashlib.sha256(cited["text"].encode()).hexdigest() == cited["sha256"]
            assert f"[{cited['id']}]" in result["answer"]
        assert any(c["uri"] == path.as_uri() for c in result["citations"])


@pytest.mark.asyncio
async def test_search_context_similar_explain(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        path = workspace / "src/requests/cookies.py"
        text = opened(client, path)
        search = await call(client, "coderag/search", {"query": "merge_cookies", "filters": {}})
        assert any(h["path"] == "src/requests/cookies.py" for h in search["hits"])
        context = await call(client, "coderag/context", {"query": QUESTION, "filters": {}, "tokenBudget": 2000})
        assert context["primary"] and 0 < context["tokenCount"] <= 2000
        at = position(text, "merge_cookies(cookiejar")
        where = {"uri": path.as_uri(), "range": {"start": {"line": at.line, "character": at.character}, "end": {"line": at.line + 5, "character": 0}}}
        assert (await call(client, "coderag/similar", {"document": where}))["hits"]
        explained = await call(client, "coderag/explain", {"document": where})
        assert explained["found"] and explained["symbol"] == "merge_cookies" and explained["usageCount"] > 0
        command = plain(await client.workspace_execute_command_async(t.ExecuteCommandParams("coderag.server.explain", ["merge_cookies"])))
        assert command["found"]


@pytest.mark.asyncio
async def test_status_reindex_pause_resume(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        status = await call(client, "coderag/status")
        assert status["coverage"]["indexed"] == status["coverage"]["total"] > 50
        await call(client, "coderag/reindex", {"paths": [str(workspace / "src")]})
        assert (await call(client, "coderag/pause"))["paused"] is True
        assert (await call(client, "coderag/resume"))["paused"] is False
        assert (await call(client, "coderag/sync", {"vectors": True}))["coverage"]["pending"] == 0
        async with asyncio.timeout(60):  # coderag/statusChanged follows at its own pace
            while plain(await client.told.get())["coverage"]["total"] <= 50:
                pass


@pytest.mark.asyncio
async def test_hover_links_lens(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        path = workspace / "src/requests/cookies.py"
        text = opened(client, path)
        uri = t.TextDocumentIdentifier(path.as_uri())
        hover = await client.text_document_hover_async(t.HoverParams(uri, position(text, "merge_cookies(cookiejar")))
        assert "merge_cookies" in hover.contents.value
        markdown = client_capabilities(name).text_document.hover.content_format[0] == t.MarkupKind.Markdown
        assert hover.contents.kind == (t.MarkupKind.Markdown if markdown else t.MarkupKind.PlainText)
        notes = workspace / "notes.md"
        opened(client, notes, "see src/requests/cookies.py:542-555\n", "markdown")
        links = await client.text_document_document_link_async(t.DocumentLinkParams(t.TextDocumentIdentifier(notes.as_uri())))
        assert len(links) == 1
        resolved = await client.document_link_resolve_async(links[0])
        assert resolved.target.startswith(path.as_uri())
        assert await client.text_document_code_lens_async(t.CodeLensParams(uri)) is not None


@pytest.mark.asyncio
async def test_code_action_inserts(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        mine = workspace / "mine.py"
        opened(client, mine, "# how are cookies merged into a session\n\n")
        await call(client, "coderag/sync")
        at = t.Range(t.Position(0, 4), t.Position(0, 4))
        actions = await client.text_document_code_action_async(
            t.CodeActionParams(t.TextDocumentIdentifier(mine.as_uri()), at, t.CodeActionContext([], trigger_kind=t.CodeActionTriggerKind.Invoked))
        )
        action = next(a for a in actions if a.kind == "refactor.insert.coderag")
        if action.edit is None:
            action = await client.code_action_resolve_async(action)
        text = json.dumps(converters.get_converter().unstructure(action.edit, t.WorkspaceEdit))
        assert " sha256:" in text and mine.as_uri() in text


@pytest.mark.asyncio
async def test_drift(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        path = workspace / "src/requests/cookies.py"
        lines = path.read_text().split("\n")
        sha = hashlib.sha256("\n".join(lines[541:546]).encode()).hexdigest()[:8]
        mine = workspace / "mine.py"
        opened(client, mine, f"# src/requests/cookies.py:540-544 sha256:{sha}\n")
        await call(client, "coderag/sync")
        pulls = client_capabilities(name).text_document.diagnostic is not None
        if pulls:
            report = await client.text_document_diagnostic_async(t.DocumentDiagnosticParams(t.TextDocumentIdentifier(mine.as_uri())))
            found = report.items
        else:
            if not client.diagnostics.get(mine.as_uri()):
                await client.wait_for_notification("textDocument/publishDiagnostics")
            found = client.diagnostics[mine.as_uri()]
        assert [d.code for d in found] == ["citation-moved"] and found[0].source == "coderag"
        actions = await client.text_document_code_action_async(
            t.CodeActionParams(t.TextDocumentIdentifier(mine.as_uri()), found[0].range, t.CodeActionContext(list(found), only=["quickfix"]))
        )
        assert any(a.kind == "quickfix" for a in actions)


@pytest.mark.asyncio
async def test_bad_parameters_are_errors_not_ends(name, workspace, tmp_path):
    async with Session(name, workspace, tmp_path) as client:
        for method, params in [("coderag/ask", {"query": 7}), ("coderag/nosuch", {}), ("coderag/explain", {"document": {"uri": "file:///nowhere"}})]:
            with pytest.raises(Exception) as error:
                await call(client, method, params)
            assert getattr(error.value, "code", None) in (-32602, -32601)
        assert (await call(client, "coderag/ask", {"query": QUESTION, "filters": {}}))["citations"]
