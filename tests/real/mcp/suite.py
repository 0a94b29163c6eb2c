"""Drives `trueup mcp` with the official Python SDK, as any MCP client would.

    suite.py TRUEUP KUBECONFIG FOLDER

Prints one line of JSON: the calls that were made and what was not as expected.
"""

import asyncio
import json
import os
import pathlib
import stat
import sys

from mcp import Client, MCPError, StdioServerParameters

TRUEUP, KUBECONFIG, FOLDER = sys.argv[1:4]
PLANS = pathlib.Path(FOLDER) / "plans"

calls, failures = 0, []


def expect(what, holds, found=""):
    if not holds:
        failures.append(f"{what}: {found}")


def text_of(result):
    return "".join(block.text for block in result.content)


async def call(client, tool, arguments):
    """The JSON of a result that is no error."""
    global calls
    calls += 1
    result = await client.call_tool(tool, arguments)
    expect(f"{tool} {arguments} succeeds", not result.is_error, text_of(result))
    return json.loads(text_of(result))


async def refused(client, tool, arguments):
    global calls
    calls += 1
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError:
        return
    expect(f"{tool} {arguments} is refused", result.is_error, text_of(result))


async def session(mode):
    arguments = ["mcp", "--kubeconfig", KUBECONFIG, "--all-contexts", "--settle", "0s", "--out-dir", str(PLANS)]
    server = StdioServerParameters(command=TRUEUP, args=arguments, env={"HOME": FOLDER, "TMPDIR": FOLDER})
    async with Client(server, mode=mode, read_timeout_seconds=120) as client:
        expect(f"{mode}: the server names itself", client.server_info.name == "trueup", client.server_info)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        expect("three tools", sorted(tools) == ["explain_finding", "list_findings", "make_plan"], sorted(tools))
        readers = [name for name, tool in tools.items() if tool.annotations.read_only_hint]
        expect("two only read", sorted(readers) == ["explain_finding", "list_findings"], readers)

        page = await call(client, "list_findings", {"limit": 200})
        expect("the demo has findings", page["matching"] > 20, page["matching"])
        listed = await call(client, "list_findings", {"states": ["extra"], "checks": ["hosted-oidc"]})
        found = [one for one in listed["findings"] if one["has_actions"]]
        expect("the demo has orphans with a fix", found, listed)

        explained = await call(client, "explain_finding", {"finding": found[0]["id"]})
        expect("an explanation has evidence", explained["finding"]["evidence"], explained)
        expect("it is that finding", explained["finding"]["id"] == found[0]["id"], explained["finding"]["id"])

        name = f"fix-{mode}.json"
        made = await call(client, "make_plan", {"file": name, "clusters": [found[0]["cluster"]]})
        written = PLANS / name
        expect("the file has that id", json.loads(written.read_text())["id"] == made["id"], made["id"])
        expect("only its owner reads it", stat.S_IMODE(os.stat(written).st_mode) == 0o600, oct(os.stat(written).st_mode))
        expect("a person approves it", made["approve"].startswith("trueup apply "), made["approve"])
        for file in [name, "../out.json", "/tmp/out.json"]:
            await refused(client, "make_plan", {"file": file})
        for tool in ["apply_plan", "approve", "read_file"]:
            await refused(client, tool, {})
        await refused(client, "explain_finding", {"finding": "a1", "plan": str(written)})


async def main():
    PLANS.mkdir(exist_ok=True)
    # The handshake of today's clients, and the one of the SDK's newest protocol.
    for mode in ["legacy", "auto"]:
        await session(mode)
    print(json.dumps({"calls": calls, "failures": failures}))


asyncio.run(main())
