import { expect, test } from "vitest";
import { namedVariables } from "../../../src/config/check/named-variables.ts";

const reference = (name: string): string => `\${${name}}`;

test("lists the variables of every entry's address, key and headers, each once", () => {
  const entries = [
    {
      id: "a",
      provider: "openai-compatible",
      baseUrl: `https://${reference("HOST")}/${reference("PATH_1")}`,
      apiKey: `x-${reference("SESAME")}`,
      headers: { A: `Bearer ${reference("SESAME")}`, B: reference("_b") },
      model: reference("NOT_FILLED_IN"),
    },
    { id: "b", provider: "ollama", apiKey: reference("OTHER") },
    { id: "c", provider: "ollama", apiKey: "$NOT_ONE", headers: { A: "{NOR_THIS}" } },
  ];
  expect(namedVariables({ models: { entries } })).toEqual(["HOST", "PATH_1", "SESAME", "_b", "OTHER"]);
  expect([namedVariables({}), namedVariables({ models: {} })]).toEqual([[], []]);
});

test("names the variables in headers and secrets for MCP servers, but not those in arguments", () => {
  const name = (text: string) => `$\{${text}}`;
  const servers = {
    a: {
      url: "https://x.example",
      headers: { A: `Bearer ${name("KEY")}` },
      oauth: { clientSecret: name("SECRET:-x") },
    },
    b: { command: "srv", args: [name("HOME")], env: { PATH: name("PATH") } },
    c: { url: "https://x.example", oauth: false as const },
  };
  expect(namedVariables({ mcp: { servers } })).toEqual(["KEY", "SECRET"]);
});
