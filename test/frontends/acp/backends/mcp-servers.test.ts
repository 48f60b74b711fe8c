import { expect, test } from "vitest";
import { createBench } from "../../../e2e/tinman.ts";
import { openEditor, textOf } from "../fakes/raw-editor.ts";

const server = { name: "files", command: "/nonexistent/files", args: [], env: [] };
const words = /^(?:tinman: )?The MCP server files cannot be used: .+\n?$/;

test.each([
  ["with a notice", { session: { notices: {} } }, []],
  ["with a notice, despite the option of older settings", { session: { notices: {} } }, ["--skip-mcp-servers"]],
  ["on stderr if the editor takes no notices", {}, []],
])("opens a session without unusable MCP servers, %s", async (_, capabilities, args) => {
  const bench = await createBench();
  try {
    const editor = openEditor(bench, { args: [...args, "-m", "offline"], capabilities });
    await editor.hello();
    const sessionId = await editor.open(bench.cwd, { mcpServers: [server] });
    expect(await editor.prompt(sessionId, "Just reply OK.")).toEqual({ result: { stopReason: "end_turn" } });
    const updates = editor.updates(sessionId);
    expect(textOf(updates)).toBe("OK");
    const notices = updates.filter(({ sessionUpdate }) => sessionUpdate === "notice");
    const { stderr } = await editor.leave();
    const isTold = "session" in capabilities;
    expect({ notices, stderr }).toEqual({
      notices: isTold ? [{ sessionUpdate: "notice", severity: "warning", title: expect.stringMatching(words) }] : [],
      stderr: isTold ? "" : expect.stringMatching(words),
    });
  } finally {
    await bench.remove();
  }
});
