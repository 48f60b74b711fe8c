import { describe, expect, test } from "vitest";
import { createAccess } from "../../src/server/origin-check.ts";
import { bearer, type Served, serve, upgradeCode } from "./served.ts";

/** DNS rebinding and WebSockets from foreign pages are both blocked. */

const upgradeHead =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEC==\r\n";

/** The status of a request with exactly these header lines, as a request and as an upgrade, each with a valid token. */
async function codes({ raw, token }: Served, headers: readonly string[], version = "1.1"): Promise<readonly string[]> {
  const lines = [...headers, `Authorization: Bearer ${token}`].map((line) => `${line}\r\n`).join("");
  const answers = await Promise.all([
    raw(`GET /healthz HTTP/${version}\r\n${lines}Connection: close\r\n\r\n`),
    raw(`GET /ws HTTP/${version}\r\n${lines}${upgradeHead}\r\n`),
  ]);
  return answers.map((answer) => answer.split(" ", 2)[1] ?? "");
}

test.each([
  ["another host name", ["Host: evil.example"]],
  ["one with our name as a prefix", ["Host: localhost.evil.example"]],
  ["one with our address as a prefix", ["Host: 127.0.0.1.nip.io"]],
  ["one with our name as a suffix", ["Host: evil.localhost"]],
  ["one with a final dot", ["Host: localhost."]],
  ["none", []],
  ["an empty one", ["Host:"]],
  ["two", ["Host: localhost", "Host: localhost"]],
  ["two, the second one foreign", ["Host: localhost", "Host: evil.example"]],
  ["one with a user", ["Host: localhost@evil.example"]],
  ["ours with a user", ["Host: evil.example@localhost"]],
  ["one with a path", ["Host: localhost/evil.example"]],
  ["two in one", ["Host: localhost, evil.example"]],
  ["an equivalent address", ["Host: 127.1"]],
  ["an address as a number", ["Host: 2130706433"]],
  ["another address", ["Host: 192.0.2.1"]],
  ["everything", ["Host: 0.0.0.0"]],
  ["an invalid port", ["Host: localhost:80x"]],
  ["an address without brackets", ["Host: ::1"]],
])("rejects the Host %s", async (_, headers) => {
  const served = await serve();
  expect(await codes(served, headers)).toEqual(["403", "403"]);
  expect(served.seen).toEqual([]);
});

test("rejects a missing Host, even in HTTP/1.0", async () => {
  const served = await serve();
  expect(await served.raw(`GET /healthz HTTP/1.0\r\nAuthorization: Bearer ${served.token}\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 403 /,
  );
});

test("rejects a foreign Host or Origin before checking a token, without revealing that one was missing", async () => {
  const { ask } = await serve();
  expect((await ask("/healthz", { headers: { Host: "evil.example" } })).code).toBe(403);
  expect((await ask("/healthz", { headers: { Origin: "http://evil.example" } })).code).toBe(403);
});

test("the address in a request line does not make up for a wrong Host", async () => {
  const { raw, token } = await serve();
  const rest = `Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
  const target = "http://localhost/healthz";
  expect(await raw(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${rest}`)).toMatch(/^HTTP\/1\.1 403 /);
});

test.each(["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8000", "agent.example.org:443"])(
  "accepts the Host %s",
  async (host) => {
    const { ask, token } = await serve({ hosts: ["agent.example.org"] });
    expect((await ask("/healthz", { headers: { ...bearer(token), Host: host } })).code).toBe(200);
  },
);

test.each([
  "null",
  "",
  "http://evil.example",
  "https://localhost.evil.example",
  "http://localhost:9999",
  "http://localhost",
  "HTTP://LOCALHOST:8000",
  "http://LOCALHOST:8000",
  "http://127.0.0.1:8000",
  "http://localhost:8000/",
  "http://evil.example@localhost:8000",
  "http://localhost:8000 http://evil.example",
  "ws://localhost:8000",
  "chrome-extension://abcdef",
  "https://agent.example.org:444",
  "http://agent.example.org",
])("rejects a page from %j", async (origin) => {
  const served = await serve({ origins: ["https://agent.example.org"] });
  expect(await codes(served, ["Host: localhost:8000", `Origin: ${origin}`])).toEqual(["403", "403"]);
  expect(served.seen).toEqual([]);
});

test("rejects two origins", async () => {
  const served = await serve();
  const origin = "Origin: http://localhost:8000";
  expect(await codes(served, ["Host: localhost:8000", origin, origin])).toEqual(["403", "403"]);
});

test("accepts the server's own pages, configured ones, and programs", async () => {
  const served = await serve({ origins: ["https://app.example.org"] });
  const Host = "localhost:8000";
  for (const Origin of ["http://localhost:8000", "https://localhost:8000", "https://app.example.org", undefined]) {
    const headers = { ...bearer(served.token), Host, ...(Origin === undefined ? {} : { Origin }) };
    expect([Origin, (await served.ask("/healthz", { headers })).code]).toEqual([Origin, 200]);
    expect([Origin, await upgradeCode(served, "/ws", headers)]).toEqual([Origin, 101]);
  }
});

test("checks Host and Origin even without authentication", async () => {
  const served = await serve({ noAuth: true });
  expect([
    (await served.ask("/healthz")).code,
    (await served.ask("/healthz", { headers: { Host: "evil.example" } })).code,
    (await served.ask("/healthz", { headers: { Origin: "http://evil.example" } })).code,
    await upgradeCode(served, "/ws", { Origin: "http://evil.example" }),
    await upgradeCode(served, "/ws", { Host: "evil.example" }),
    await upgradeCode(served, "/ws", {}),
  ]).toEqual([200, 403, 403, 403, 403, 101]);
});

describe("a server's names", () => {
  const named = (boundTo: string, host: string): string | undefined =>
    createAccess({ boundTo, hosts: [], origins: [], ownAddresses: () => ["192.0.2.7", "fe80::1"] }).host([
      "Host",
      host,
    ]);

  test("are its bound address", () => {
    expect([named("192.0.2.7", "192.0.2.7:80"), named("192.0.2.7", "192.0.2.8")]).toEqual(["192.0.2.7:80", undefined]);
    expect([named("::1", "[::1]:1"), named("fd00::1", "[FD00::1]")]).toEqual(["[::1]:1", "[fd00::1]"]);
  });

  test.each(["0.0.0.0", "::"])(
    "are all addresses of the machine if it is bound to %s, and no other name",
    (boundTo) => {
      const hosts = ["192.0.2.7", "[fe80::1]:8000", "192.0.2.8", "machine.example", "0.0.0.0"];
      expect(hosts.map((host) => named(boundTo, host))).toEqual([
        "192.0.2.7",
        "[fe80::1]:8000",
        undefined,
        undefined,
        undefined,
      ]);
    },
  );
});

test.each(["100-continue", "something-else"])(
  "a request that expects %s is checked like any other",
  async (expected) => {
    const served = await serve();
    const answer = (...lines: readonly string[]): Promise<string> =>
      served.raw(["POST /links HTTP/1.1", `Expect: ${expected}`, "Content-Length: 2", ...lines, "", ""].join("\r\n"));
    const token = `Authorization: Bearer ${served.token}`;
    expect(await answer("Host: evil.example", token)).toMatch(/^HTTP\/1\.1 403 /);
    expect(await answer("Host: localhost", "Origin: http://evil.example", token)).toMatch(/^HTTP\/1\.1 403 /);
    expect(await answer("Host: localhost")).toMatch(/^HTTP\/1\.1 401 /);
    expect(await answer("Host: localhost", token)).toMatch(/^HTTP\/1\.1 200 /);
    expect(served.log().map(({ event, reason }) => [event, reason])).toEqual([
      ["access.refused", "host"],
      ["access.refused", "origin"],
      ["access.refused", "token"],
    ]);
  },
);

test("a full URL is as good as its path, if it names the same server as Host", async () => {
  const served = await serve();
  const codes = async (address: string, ...lines: readonly string[]): Promise<number[]> => {
    const head = [`GET ${address} HTTP/1.1`, "Host: localhost:80", "Connection: close"];
    const answers = [[], [`Authorization: Bearer ${served.token}`]].map((token) =>
      served.raw([...head, ...token, ...lines, "", ""].join("\r\n")),
    );
    return (await Promise.all(answers)).map((answer) => Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]));
  };
  expect(await codes("http://localhost:80/healthz?x=1")).toEqual([401, 200]);
  expect(await codes("HTTPS://LocalHost:80/healthz")).toEqual([401, 200]);
  expect(await codes("http://localhost:80")).toEqual([401, 200]);
  expect(await codes("http://localhost:80/nothing")).toEqual([401, 404]);
  for (const other of ["localhost", "127.0.0.1:80", "evil.example:80", "localhost:80@evil.example", "a@localhost:80"])
    expect([other, await codes(`http://${other}/healthz`)]).toEqual([other, [400, 400]]);
  expect(await codes("http://localhost:80/healthz", "Origin: http://evil.example")).toEqual([403, 403]);
});
