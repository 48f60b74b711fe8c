import { createInterface } from "node:readline";

/* The MCP server of the trace 12_mcp, with the descriptions that the trace has. */

const tools = [
  {
    name: "echo",
    description: "[redacted 14 chars]",
    annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  { name: "boom", description: "[redacted 12 chars]", inputSchema: { type: "object", properties: {} } },
];

/** @type {Readonly<Record<string, (params: any) => object>>} */
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) =>
    name === "echo"
      ? { content: [{ type: "text", text: `echo: ${given.text}` }] }
      : { isError: true, content: [{ type: "text", text: "boom happened" }] },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome =
    answer === undefined ? { error: { code: -32601, message: "Unknown method." } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}
