import { describe, expect, it, test } from "vitest";
import { configuredServers, decodeDocument } from "../../../src/mcp/entries/decode-entry.ts";

const variable = "$" + "{TOKEN}";
const stdio = { kind: "stdio", command: "srv", args: [], env: {} };
const http = { kind: "http", url: "https://x.example/mcp", headers: {} };

describe("an entry of a JSON file", () => {
  test.each<readonly [what: string, raw: unknown, entry: object]>([
    ["a command", { command: "srv" }, stdio],
    [
      "a command with everything",
      { type: "stdio", command: "srv", args: ["-a", variable], env: { A: "b" }, contained: true },
      { ...stdio, args: ["-a", variable], env: { A: "b" }, contained: true },
    ],
    ["an address", { url: "https://x.example/mcp" }, http],
    ["an address of an old server", { type: "sse", url: "https://x.example/mcp" }, { ...http, kind: "sse" }],
    ["the long name of http", { type: "streamable-http", url: "https://x.example/mcp" }, http],
    ["the other long name of http", { type: "streamableHttp", url: "https://x.example/mcp" }, http],
    ["headers", { url: "https://x.example/mcp", headers: { A: variable } }, { ...http, headers: { A: variable } }],
    ["a list of headers", { url: http.url, headers: [{ name: "A", value: "b" }] }, { ...http, headers: { A: "b" } }],
    ["no sign-in", { url: http.url, oauth: false }, { ...http, oauth: false }],
    [
      "a registered client",
      {
        url: http.url,
        oauth: { clientId: "c", authorizationServerIssuer: "i", tokenEndpointAuthMethod: "none", x: 1 },
      },
      { ...http, oauth: { clientId: "c", issuer: "i", authMethod: "none" } },
    ],
    ["absent values", { command: "srv", args: null, env: null, url: null }, stdio],
    ["keys of other programs", { command: "srv", alwaysAllow: ["x"], timeout: 60 }, stdio],
    ["switched off", { command: "srv", enabled: false }, { ...stdio, isDisabled: true }],
    ["switched off as others write it", { command: "srv", disabled: true }, { ...stdio, isDisabled: true }],
    ["both ways of reaching it, and a type", { type: "http", command: "srv", url: http.url }, http],
    ["the user's own judgement", { command: "srv", tools: { a: "read" } }, { ...stdio, tools: { a: "read" } }],
  ])("can have %s", (_, raw, entry) => {
    expect(decodeDocument({ mcpServers: { one: raw } }, "f")).toEqual({
      servers: [{ name: "one", entry }],
      problems: [],
    });
  });

  test.each<readonly [fault: string, raw: unknown]>([
    ["must be a map of keys, got text", "srv"],
    ["must be a map of keys, got a list", []],
    ["must be a map of keys, got nothing", null],
    ["it needs a command or a url", {}],
    ["it has a command and a url. Remove one", { command: "a", url: "http://x" }],
    ["it has the type http, which needs a url", { type: "http", command: "a" }],
    ["it has the type stdio, which needs a command", { type: "stdio", url: "http://x" }],
    ['type: must be one of stdio, http, sse; got "ws"', { type: "ws", url: "http://x" }],
    ["command: must be text, got a list", { command: ["a"] }],
    ["command: must not be empty", { command: " " }],
    ["command: has a NUL character", { command: "a\0b" }],
    ["args: must be a list, got text", { command: "a", args: "-x" }],
    ["args.1: must be text, got a number", { command: "a", args: ["x", 1] }],
    [
      "args.0: has a malformed variable. Write $" + "{NAME}, or $" + "{NAME:-default}",
      { command: "a", args: ["$" + "{a b}"] },
    ],
    ["env.A: must be text, got a number", { command: "a", env: { A: 1 } }],
    ["url: must be an address with http:// or https://", { url: "file:///etc/passwd" }],
    ["url: must have no user or password. Use headers", { url: "https://a:b@x.example" }],
    ["headers: must be a map of keys, got a list", { url: "http://x", headers: ["A: b"] }],
    ["headers.A: must be one line", { url: "http://x", headers: { A: "b\r\nC: d" } }],
    ["oauth: cannot be true", { url: "http://x", oauth: true }],
  ])("is skipped: %s", (fault, raw) => {
    const problems = [`Skipped the MCP server "one" of f: ${fault}.`];
    const good = { name: "two", entry: stdio };
    expect(decodeDocument({ mcpServers: { one: raw, two: { command: "srv" } } }, "f")).toEqual({
      servers: [good],
      problems,
    });
  });

  test.each([
    ["", "must not be empty"],
    ["../x", "can only have letters, digits, dots, - and _"],
    ["a b", "can only have letters, digits, dots, - and _"],
    ["ü", "can only have letters, digits, dots, - and _"],
    [".hidden", "must not start with a dot"],
    ["a___b", "must not contain ___"],
    ["a_", "must not end with _"],
    ["__proto__", "must not end with _"],
    ["x".repeat(65), "must have at most 64 characters"],
  ])("cannot be named %j", (name, fault) => {
    const document = JSON.parse(`{"mcpServers": {${JSON.stringify(name)}: {"command": "srv"}}}`) as unknown;
    const shown = JSON.stringify(name);
    const problems = [`Skipped the MCP server ${shown} of f: its name ${fault}.`];
    expect(decodeDocument(document, "f")).toEqual({ servers: [], problems });
  });

  it("can have a name of 64 letters, digits and signs", () => {
    const name = `A1-b_c.${"x".repeat(57)}`;
    expect(decodeDocument({ mcpServers: { [name]: { command: "srv" } } }, "f")?.servers[0]?.name).toBe(name);
  });
});

describe("a JSON document", () => {
  it("can have the key of VS Code", () => {
    expect(decodeDocument({ servers: { a: { command: "srv" } }, inputs: [] }, "f")).toEqual({
      servers: [{ name: "a", entry: stdio }],
      problems: [],
    });
  });

  it.each([[[]], [null], ["x"], [{}], [{ mcpServers: [] }], [{ mcpServers: null }]])(
    "names no servers: %j",
    (document) => {
      expect(decodeDocument(document, "f")).toBeUndefined();
    },
  );

  it("has its servers bounded, and its names made visible", () => {
    const entries = Array.from({ length: 300 }, (_, index) => [`s${index}`, { command: "srv" }]);
    const many = decodeDocument({ mcpServers: Object.fromEntries(entries) }, "f");
    expect(many?.servers).toHaveLength(200);
    expect(many?.problems).toEqual(["f names more than 200 MCP servers. The rest is skipped."]);
    const [problem] = decodeDocument({ mcpServers: { "\u001b[2Jx": {} } }, "f")?.problems ?? [];
    expect(problem).toBe(
      'Skipped the MCP server "\\u{1b}[2Jx" of f: its name can only have letters, digits, dots, - and _.',
    );
  });
});

test("config.yaml has the same entries, already checked", () => {
  const entries = { a: { command: "srv", enabled: false }, b: { url: http.url, oauth: false as const } };
  expect(configuredServers(entries)).toEqual([
    { name: "a", entry: { ...stdio, isDisabled: true } },
    { name: "b", entry: { ...http, oauth: false } },
  ]);
});
