import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { roles } from "../../src/access/identity.ts";
import { loadUserConfig } from "../../src/config/load.ts";
import { interactiveSettings, serveSettings } from "../../src/config/serve/serve-settings.ts";
import { toolExecutions, userRoles } from "../../src/config/serve/serve-words.ts";
import { toolExecutions as onTheWire } from "../../src/protocol/interactive.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-serve-config-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function load(text: string) {
  await writeFile(join(home, "config.yaml"), text);
  return loadUserConfig(home);
}

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

test("the configuration and the servers know the same values", () => {
  expect({ userRoles, toolExecutions }).toEqual({ userRoles: roles, toolExecutions: onTheWire });
});

test("without a configuration, the documented defaults apply", async () => {
  const config = await loadUserConfig(home);
  expect([serveSettings(config), interactiveSettings(config)]).toEqual([
    {
      hosts: [],
      origins: [],
      users: [],
      rpc: "everybody",
      limits: { connections: 2_000, connectionsPerUser: 1_500, payloadBytes: 1_048_576, unsentBytes: 16_777_216 },
      timeouts: { pingMs: 20_000, stalledMs: 10_000, drainMs: 30_000 },
    },
    {
      toolExecution: "client",
      toolExecutionChoices: ["client"],
      autonomy: "off",
      timeouts: { toolResultMs: 600_000, idleSessionMs: 1_800_000 },
      limits: { queuedMessages: 32, openSessions: 2_000, sessionsPerMinute: 1_200, messagesPerMinute: 6_000 },
    },
  ]);
});

test("every key takes effect", async () => {
  const config = await load(`
serve:
  hosts: [agent.example.org, "[fd00::1]"]
  origins: ["https://agent.example.org", "http://localhost:3000"]
  users:
    - { name: ann@example.org, role: viewer, tokens: ["${hash("a")}", "${hash("b")}"] }
    - { name: bob, role: user, tokens: [], folders: [/srv/bob], autonomy: low, models: [offline] }
  rpc: nobody
  limits: { connections: 1, connectionsPerUser: 10, payloadBytes: 2, unsentBytes: 3 }
  timeouts: { ping: 4, stalled: 5s, drain: 6m }
interactive:
  toolExecution: server
  toolExecutionChoices: [client, server]
  autonomy: off
  timeouts: { ai: 500ms, toolResult: 1h, idleSession: 1.5 }
  limits: { queuedMessages: 7, openSessions: 6, sessionsPerMinute: 8, messagesPerMinute: 9 }
`);
  expect([serveSettings(config), interactiveSettings(config)]).toEqual([
    {
      hosts: ["agent.example.org", "[fd00::1]"],
      origins: ["https://agent.example.org", "http://localhost:3000"],
      users: [
        { name: "ann@example.org", role: "viewer", tokens: [hash("a"), hash("b")] },
        { name: "bob", role: "user", tokens: [], folders: ["/srv/bob"], autonomy: "low", models: ["offline"] },
      ],
      rpc: "nobody",
      limits: { connections: 1, connectionsPerUser: 10, payloadBytes: 2, unsentBytes: 3 },
      timeouts: { pingMs: 4_000, stalledMs: 5_000, drainMs: 360_000 },
    },
    {
      toolExecution: "server",
      toolExecutionChoices: ["server", "client"],
      autonomy: "off",
      timeouts: { aiMs: 500, toolResultMs: 3_600_000, idleSessionMs: 1_500 },
      limits: { queuedMessages: 7, openSessions: 6, sessionsPerMinute: 8, messagesPerMinute: 9 },
    },
  ]);
});

const oneUser = (fields: string): string => `serve: { users: [${fields}] }`;

test.each([
  [
    oneUser("{ name: ann, role: root, tokens: [] }"),
    'serve.users.0.role: must be one of admin, user, viewer; got "root"',
  ],
  [oneUser("{ name: ann, tokens: [] }"), "serve.users.0.role: is missing"],
  [oneUser("{ name: ann, role: user }"), "serve.users.0.tokens: is missing"],
  [
    oneUser("{ name: ann, role: user, tokens: [s3cret] }"),
    "serve.users.0.tokens.0: must be sha256: and 64 digits, as `tinman serve token` prints it",
  ],
  [
    oneUser(`{ name: ann, role: user, tokens: ["${hash("A")}"] }`),
    "serve.users.0.tokens.0: must be sha256: and 64 digits, as `tinman serve token` prints it",
  ],
  [
    oneUser("{ name: ann, role: user, tokens: [] }, { name: ann, role: admin, tokens: [] }"),
    'serve.users.1.name: duplicate "ann"',
  ],
  [
    oneUser(`{ name: a, role: user, tokens: ["${hash("a")}"] }, { name: b, role: admin, tokens: ["${hash("a")}"] }`),
    "serve.users.1.tokens.0: is a duplicate: each token belongs to one user",
  ],
  [
    oneUser("{ name: local, role: user, tokens: [] }"),
    'serve.users.0.name: "local" is reserved for this machine\'s own token. Choose another name',
  ],
  [
    oneUser('{ name: "a b", role: user, tokens: [] }'),
    "serve.users.0.name: must have 1 to 64 letters, digits, or characters of . _ @ + -",
  ],
  [
    oneUser("{ name: ann, role: user, tokens: [], folders: [work] }"),
    'serve.users.0.folders.0: must be an absolute path, got "work"',
  ],
  [
    oneUser("{ name: ann, role: admin, tokens: [], models: [offline] }"),
    'serve.users.0.models: applies only to the role user, but "ann" has admin. Remove it',
  ],
  ["serve: { hosts: ['https://a.example'] }", "serve.hosts.0: must be a name without http://"],
  ["serve: { hosts: ['a.example:80'] }", "serve.hosts.0: must be a name without a port; it covers every port"],
  ["serve: { hosts: ['A.example'] }", "serve.hosts.0: must be lower case"],
  ["serve: { hosts: ['*.example'] }", "serve.hosts.0: must be a host name or address, such as agent.example.org"],
  [
    "serve: { origins: ['https://a.example/'] }",
    "serve.origins.0: must be an origin as a browser writes it, without a path: https://a.example",
  ],
  ["serve: { origins: ['*'] }", "serve.origins.0: must be an origin, such as https://agent.example.org"],
  [
    "serve: { origins: ['null'] }",
    'serve.origins.0: "null" cannot be allowed, because every sandboxed page and local file has this origin',
  ],
  [
    "serve: { timeouts: { ping: soon } }",
    "serve.timeouts.ping: it must be a time such as 90, 90s, 10m or 1h, of at most 24 days.",
  ],
  [
    "interactive: { timeouts: { ia: 1 } }",
    'interactive.timeouts: unknown key "ia"; available: ai, toolResult, idleSession',
  ],
])("%s is rejected with a message that names the place", async (text, words) => {
  await expect(load(text)).rejects.toMatchObject({
    code: "config_invalid",
    message: `${join(home, "config.yaml")}: ${words}`,
  });
});

test("another file replaces config.yaml, and neither is confused with the other", async () => {
  const file = join(home, "other.yaml");
  await load("model: offline\n");
  await writeFile(file, "durability: always\n");
  for (let time = 0; time < 2; time += 1) {
    expect(await loadUserConfig(home, { file })).toEqual({ durability: "always" });
    expect(await loadUserConfig(home)).toEqual({ model: "offline" });
  }
  await writeFile(file, "");
  expect(await loadUserConfig(home, { file })).toEqual({});
  await writeFile(file, "modle: x\n");
  await expect(loadUserConfig(home, { file })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining(`${file}: unknown key "modle"; available: model, models, `),
  });
});

test("a named file must exist", async () => {
  const file = join(home, "none.yaml");
  await expect(loadUserConfig(home, { file })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(/none\.yaml: the file does not exist$/),
  });
});
