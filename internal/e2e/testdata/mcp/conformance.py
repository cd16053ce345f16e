"""Speaks to `coderag-ls mcp` with the official Python SDK of the protocol, which
shares no code with ours: conformance.py PROGRAM WORKSPACE.

It prints one line for each step and ends with 1 at the first that fails.
"""

import asyncio
import hashlib
import os
import pathlib
import subprocess
import sys

import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ListRootsResult, Root

TOOLS = ["coderag_ask", "coderag_context", "coderag_search", "coderag_status"]


def check(ok, what):
    if not ok:
        raise SystemExit(f"FAIL {what}")


async def refused(call, what):
    try:
        result = await call
    except MCPError:
        return
    check(getattr(result, "is_error", False), what)


async def steps(client, root, how):
    """What holds for every client."""
    tools = {t.name: t for t in (await client.list_tools()).tools}
    check(sorted(tools) == TOOLS, f"tools: {sorted(tools)}")
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        check(tool.description and tool.annotations.read_only_hint, f"{tool.name} is described")

    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    async def call(name, arguments):
        result = await client.call_tool(name, arguments, progress_callback=progress)
        check(not result.is_error, f"{name}: {result.content}")
        jsonschema.validate(result.structured_content, tools[name].output_schema)
        check("Coverage:" in result.content[0].text, f"{name} tells its coverage")
        return result.structured_content, result.content[0].text

    found, text = await call("coderag_search", {"query": "how long until a failed delivery is tried again?"})
    check(found["hits"][0]["path"] == "ship/retry.go" and "RetryDelay" in text, f"search: {found['hits'][:1]}")
    check(found["coverage"]["indexed"] == found["coverage"]["total"] > 0, f"coverage: {found['coverage']}")
    check(told and all(a[0] < b[0] for a, b in zip(told, told[1:])), f"progress: {told}")

    answer, text = await call("coderag_ask", {"query": "how are the prices of all items added up?"})
    check(answer["citations"], f"citations: {text}")
    for c in answer["citations"]:
        lines = (root / c["path"]).read_text().split("\n")
        cited = "\n".join(lines[c["startLine"] - 1 : c["endLine"]])
        check(cited == c["text"] and hashlib.sha256(cited.encode()).hexdigest() == c["sha256"], f"citation {c['id']}")
        check(f"[{c['id']}]" in text, f"{c['id']} is cited")
        uri = f"coderag:///{c['path']}#L{c['startLine']}-L{c['endLine']}"
        read = await client.read_resource(uri)
        check(read.contents[0].text == cited, f"resource {uri}")

    packed, _ = await call("coderag_context", {"query": "prices of all items", "tokenBudget": 600})
    check(packed["tokenCount"] <= 600 and packed["primary"], f"context: {packed['tokenCount']} tokens")
    status, _ = await call("coderag_status", {})
    check([r["dir"] for r in status["roots"]] == [str(root)], f"roots: {status['roots']}")

    templates = (await client.list_resource_templates()).resource_templates
    check(any(t.uri_template.startswith("coderag:///") for t in templates), "resource templates")
    check((await client.list_resources()).resources == [], "resources")
    for uri in ["coderag:///../outside.txt", "coderag:///.env", "file:///etc/passwd", "coderag:///none.go", "coderag:///README.md#L99"]:
        await refused(client.read_resource(uri), f"{uri} is refused")
    await refused(client.call_tool("coderag_ask", {}), "a question without words is refused")
    await refused(client.call_tool("coderag_ask", {"query": "x", "topK": 9999}), "a topK out of range is refused")
    await refused(client.call_tool("coderag_none", {}), "a tool that there is not is refused")
    await call("coderag_status", {})
    print(f"ok {how}: {client.protocol_version}, {client.server_info.name}")


async def stdio(program, root, mode, roots):
    async def folders(context):
        return ListRootsResult(roots=[Root(uri=root.as_uri())])

    arguments = ["mcp"] if roots else ["--root", str(root), "mcp"]
    # Where the client tells its folders, the program is started elsewhere.
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ), cwd=str(root.parent if roots else root))
    async with Client(server, mode=mode, list_roots_callback=folders if roots else None, cache=None) as client:
        await steps(client, root, f"stdio {mode}{' roots' if roots else ''}")


async def http(program, root):
    server = subprocess.Popen(
        [program, "--root", str(root), "mcp", "--http", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        url = server.stderr.readline().split()[-1]
        token = pathlib.Path(server.stderr.readline().strip().removeprefix("token in ")).read_text().strip()
        async with httpx2.AsyncClient() as stranger:
            said = await stranger.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
            check(said.status_code == 401, f"a stranger gets {said.status_code}")
        for mode in ["legacy", "auto"]:
            known = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
            async with known, Client(streamable_http_client(url, http_client=known), mode=mode, cache=None) as client:
                await steps(client, root, f"http {mode}")
    finally:
        server.terminate()
        check(server.wait(timeout=30) == 0, f"the server ended with {server.returncode}")


async def main():
    program, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for mode in ["legacy", "auto"]:
        for roots in [False, True]:
            await stdio(program, root, mode, roots)
    await http(program, root)


asyncio.run(main())
