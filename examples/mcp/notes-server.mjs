#!/usr/bin/env node
// An MCP server without a library: one tool that reads notes, one that adds one. It speaks JSON lines on stdin and stdout.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const file = process.argv[2] ?? "notes.txt";
const word = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const tools = [
  {
    name: "list",
    description: "Lists the notes.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
  { name: "add", description: "Adds a note.", inputSchema: word },
];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => ({ content: [{ type: "text", text: call(name, given) }] }),
  ping: () => ({}),
};

function call(name, given) {
  if (name === "list") return readFileSync(file, "utf8");
  if (name !== "add") throw new Error(`Unknown tool ${name}.`);
  appendFileSync(file, `${given.text}\n`);
  return "Added.";
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  // A notification wants no answer.
  if (id === undefined) continue;
  const answer = (outcome) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
  try {
    if (!(method in methods)) throw new Error(`Unknown method ${method}.`);
    answer({ result: methods[method](params) });
  } catch (error) {
    answer({ error: { code: -32603, message: error.message } });
  }
}
