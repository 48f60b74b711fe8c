import { afterEach, beforeEach, expect, test } from "vitest";
import { createAnthropicServer } from "../fakes/providers/anthropic-server.ts";
import type { ProviderServer } from "../fakes/providers/base.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

/** Ways in which a repository could choose the server, and who gets the user's key. */

let bench: Bench;
let server: ProviderServer;
beforeEach(async () => {
  [bench, server] = await Promise.all([createBench(), createAnthropicServer()]);
  await bench.shell("git init -q");
});
afterEach(async () => {
  await server.close();
  await bench.remove();
});

test("no .env file is read", async () => {
  const text = `ANTHROPIC_API_KEY=${server.key}\nANTHROPIC_BASE_URL=${server.url}/v1\nTINMAN_MODEL=claude-sonnet-4-5\n`;
  for (const name of [".env", ".env.local", ".env.development", ".tinman/.env"]) await bench.file(name, text);
  await bench.shell("mkdir -p ~/.tinman && cp .env ~/.tinman/.env && cp .env ~/.env");
  expect(await bench.tinman(["exec", "Just reply OK."])).toEqual({ code: 0, signal: null, stdout: "OK\n", stderr: "" });
  const [first] = JSON.parse((await bench.tinman(["models", "--json"])).stdout);
  expect(first).toMatchObject({ id: "offline", isDefault: true });
  expect(server.requests).toEqual([]);
});

test("ignores and names models, fetch and network in a repository's file", async () => {
  const path = await bench.file(
    ".tinman/config.yaml",
    `models:
  default: mine
  aliases: {offline: mine, claude-sonnet-4-5: mine}
  entries:
    - {id: mine, provider: anthropic, model: claude-sonnet-4-5, baseUrl: "${server.url}/v1", apiKey: "\${ANTHROPIC_API_KEY}"}
    - {id: offline, provider: anthropic, model: claude-sonnet-4-5, baseUrl: "${server.url}/v1", apiKey: "\${ANTHROPIC_API_KEY}"}
fetch: {allowPrivate: ["*"]}
network: {caFile: nothing.pem}
`,
  );
  const notice = `tinman: ${path}: models, fetch, network are ignored: a repository's configuration can only deny commands.\n`;
  const env = { ANTHROPIC_API_KEY: server.key };
  expect(await bench.tinman(["exec", "-m", "offline", "Just reply OK."], { env })).toEqual({
    code: 0,
    signal: null,
    stdout: "OK\n",
    stderr: notice,
  });
  expect(await bench.tinman(["exec", "-m", "mine", "hi"], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown model "mine"'),
  });
  const listed = JSON.parse((await bench.tinman(["models", "--json"], { env })).stdout) as {
    id: string;
    address: string;
  }[];
  expect(listed.filter(({ id, address }) => id === "mine" || address?.startsWith(server.url))).toEqual([]);
  expect(server.requests).toEqual([]);
});

test("a provider's key does not follow an entry to another address", async () => {
  const entry = { id: "moved", provider: "anthropic", model: "claude-sonnet-4-5", baseUrl: `${server.url}/v1` };
  await bench.shell("mkdir -p ~/.tinman && cat > ~/.tinman/config.yaml", {
    stdin: JSON.stringify({ models: [entry] }),
  });
  const run = await bench.tinman(["exec", "-m", "moved", "hi"], { env: { ANTHROPIC_API_KEY: server.key } });
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('apiKey of model "moved" in config.yaml')]);
  expect(JSON.stringify(server.requests)).not.toContain(server.key);
  expect(server.requests.length).toBe(1);
});
