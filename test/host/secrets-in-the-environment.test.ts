import { join } from "node:path";
import { expect, test } from "vitest";
import { createProcesses } from "../../src/host/processes/processes.ts";
import { everydayVariables, secretVariables } from "./environment-variables.ts";
import { tempFolder } from "./support.ts";

/** A command's environment, without the variables that Tinman sets. */
async function seenBy(user: ReadonlyMap<string, string>, pass: readonly string[] = []): Promise<Map<string, string>> {
  const folder = await tempFolder();
  const environment = { PATH: process.env.PATH, ...Object.fromEntries(user) };
  const result = await createProcesses({ environment, passEnvironment: pass }).run(
    {
      command: "env -0 | tr '\\n\\0' '\\1\\n'",
      cwd: folder,
      timeoutMs: 20_000,
      spoolPath: join(folder, "whole"),
      keepBytes: 1_000_000,
      onProgress: () => undefined,
    },
    new AbortController().signal,
  );
  const lines = result.head.split("\n").map((line) => line.replaceAll("\u0001", "\n"));
  const seen = lines.map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return new Map(seen.filter(([name]) => user.has(name)));
}

test("secrets never reach a command, by name or by value", async () => {
  expect(secretVariables.size).toBeGreaterThan(60);
  expect(await seenBy(secretVariables)).toEqual(new Map());
});

test("everyday variables reach a command unchanged", async () => {
  expect(everydayVariables.size).toBeGreaterThan(60);
  const seen = await seenBy(everydayVariables);
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(everydayVariables));
});

test("a variable that the configuration passes reaches a command, whatever its name and value", async () => {
  const pass = ["DATABASE_URL", "HTTPS_PROXY", "PLAIN_11", "TINMAN_HOME"];
  const wanted = pass.map((name): [string, string] => [name, secretVariables.get(name) ?? ""]);
  expect(await seenBy(secretVariables, pass)).toEqual(new Map(wanted));
});

test("a copy of a withheld value is withheld under any name", async () => {
  const user = new Map([
    ["SOME_TOKEN", "0a1b2c3d4e5f6a7b8c"],
    ["CURL_OPTIONS", "-H x:0a1b2c3d4e5f6a7b8c"],
    ["APP_SECRET", "development"],
    ["NODE_ENV", "development"],
  ]);
  expect(await seenBy(user)).toEqual(new Map([["NODE_ENV", "development"]]));
});

test("git settings are withheld together, because git refuses an incomplete set", async () => {
  const settings = new Map([
    ["GIT_CONFIG_COUNT", "2"],
    ["GIT_CONFIG_KEY_0", "core.autocrlf"],
    ["GIT_CONFIG_VALUE_0", "input"],
    ["GIT_CONFIG_KEY_1", "http.extraheader"],
  ]);
  const header = "Authorization: Basic Y2k6aHVudGVyMg==";
  expect(await seenBy(new Map([...settings, ["GIT_CONFIG_VALUE_1", header]]))).toEqual(new Map());
  const harmless = new Map([...settings, ["GIT_CONFIG_VALUE_1", "X-Team: core"]]);
  expect(await seenBy(harmless)).toEqual(harmless);
});
