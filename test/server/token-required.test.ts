import { expect, test } from "vitest";
import { bearer, serve, tokens, upgradeCode } from "./served.ts";

/** Without tokens, every page and every program on the machine could run commands, so nothing answers without one. */

const wrongs: Readonly<Record<string, Record<string, string>>> = {
  "no token": {},
  "an empty one": { Authorization: "Bearer " },
  "a wrong one": bearer("x".repeat(43)),
  "another scheme": { Authorization: "Basic YTpi" },
  "a wrong cookie": { Cookie: `tinman=${"x".repeat(43)}` },
};

test("every route, every other path and every method needs a token", async () => {
  const served = await serve();
  const paths = [...served.server.routes.map(({ path }) => path), "/nothing", "/ws/", "//ws", "/WS", "*"];
  expect(served.server.routes.map(({ path, method }) => `${method} ${path}`)).toEqual([
    "GET /",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "POST /links",
    "GET /enter",
    "GET /ws",
    "GET /rpc",
  ]);
  const answers: string[] = [];
  for (const path of paths) {
    for (const [name, headers] of Object.entries(wrongs)) {
      for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
        const { code, headers: given } = await served.ask(path, { method, headers });
        if (`${code} ${given["www-authenticate"]}` !== "401 Bearer")
          answers.push(`${method} ${path} with ${name}: ${code}`);
        expect(given["access-control-allow-origin"]).toBeUndefined();
      }
    }
  }
  expect(answers).toEqual([]);
});

test("every upgrade needs a token, even without a WebSocket at that path", async () => {
  const served = await serve();
  const codes: Record<string, number> = {};
  for (const path of [...served.server.routes.map((route) => route.path), "/nothing"]) {
    for (const [name, headers] of Object.entries(wrongs)) {
      const code = await upgradeCode(served, path, headers);
      if (code !== 401) codes[`${path} with ${name}`] = code;
    }
  }
  expect(codes).toEqual({});
  expect(served.seen).toEqual([]);
  const asked = (served.server.routes.length + 1) * Object.keys(wrongs).length;
  expect(served.log().filter(({ event }) => event === "access.refused").length).toBe(asked);
});

test("a token in the URL does not count", async () => {
  const served = await serve();
  for (const name of ["token", "access_token", "code"]) {
    expect((await served.ask(`/healthz?${name}=${served.token}`)).code).toBe(401);
    expect(await upgradeCode(served, `/ws?${name}=${served.token}`, {})).toBe(401);
  }
});

test("two tokens count as none, and another credential does not make up for a wrong token", async () => {
  const served = await serve();
  const head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  const both = `Authorization: Bearer ${served.token}\r\n`;
  expect(await served.raw(`${head}${both}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await served.raw(`${head}${both}${both}\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
});

test("with a token, existing routes answer", async () => {
  const served = await serve();
  const codes = async (token: string) =>
    Object.fromEntries(
      await Promise.all(
        served.server.routes.map(async ({ path, method }) => [
          path,
          (await served.ask(path, { method, headers: bearer(token) })).code,
        ]),
      ),
    );
  const everything = {
    "/": 200,
    "/healthz": 200,
    "/readyz": 200,
    "/metrics": 200,
    "/links": 200,
    "/enter": 401,
    "/ws": 426,
    "/rpc": 426,
  };
  expect(await codes(served.token)).toEqual(everything);
  expect(await codes(tokens.ada)).toEqual(everything);
  expect(await codes(tokens.vic)).toEqual(everything);
  expect(await codes(tokens.ann)).toEqual({ ...everything, "/metrics": 403 });
});

test("routes for some roles are closed to others, upgrades like requests", async () => {
  const served = await serve({ needs: { "/rpc": "host" } });
  const codes = async (path: string) =>
    Promise.all(
      ["", tokens.vic, tokens.ann, tokens.ada].map(async (token) => [
        (await served.ask(path, { headers: bearer(token) })).code,
        await upgradeCode(served, path, bearer(token)),
      ]),
    );
  const [nobody, forbidden, open] = [401, 403, 101];
  expect(await codes("/rpc")).toEqual([
    [nobody, nobody],
    [forbidden, forbidden],
    [forbidden, forbidden],
    [426, open],
  ]);
  expect(await codes("/ws")).toEqual([
    [nobody, nobody],
    [426, open],
    [426, open],
    [426, open],
  ]);
});

test("unknown paths and methods are only revealed to a token", async () => {
  const { ask, token } = await serve();
  const code = async (method: string, path: string): Promise<unknown> => {
    const { code, headers } = await ask(path, { method, headers: bearer(token) });
    return headers.allow === undefined ? code : [code, headers.allow];
  };
  expect([
    await code("GET", "/nothing"),
    await code("GET", "/healthz/"),
    await code("GET", "//healthz"),
    await code("GET", "/%68ealthz"),
    await code("GET", "/HEALTHZ"),
    await code("POST", "/healthz"),
    await code("GET", "/links"),
    await code("HEAD", "/healthz"),
    await code("GET", "/healthz?x=1"),
  ]).toEqual([404, 404, 404, 404, 404, [405, "GET"], [405, "POST"], 200, 200]);
});

test("a client's identity comes from the server's record of its token, whatever it claims", async () => {
  const served = await serve();
  const claims = { "X-User": "local", "X-Role": "admin", "X-Forwarded-User": "local", "X-Scopes": "admin" };
  for (const token of [served.token, tokens.ann, tokens.vic]) {
    await served.open("/ws?user=local&role=admin", { token, headers: claims, protocol: "admin" } as object);
  }
  expect(served.seen.map(({ identity }) => identity)).toEqual([
    { user: "local", role: "admin" },
    { user: "ann", role: "user" },
    { user: "vic", role: "viewer" },
  ]);
  expect((await served.ask("/metrics", { headers: { ...bearer(tokens.ann), ...claims } })).code).toBe(403);
});

test("without authentication, every client is this machine's owner", async () => {
  const served = await serve({ noAuth: true });
  await served.open("/ws", { token: "" });
  expect(served.seen.map(({ identity }) => identity)).toEqual([{ user: "local", role: "admin" }]);
  expect([(await served.ask("/metrics")).code, (await served.ask("/nothing")).code]).toEqual([200, 404]);
});

test("responses are not cached, sniffed or framed", async () => {
  const { ask, token } = await serve();
  const { headers, body } = await ask("/", { headers: bearer(token) });
  expect(headers).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  expect(body).toBe(`tinman serve ${TINMAN_VERSION}\n\nWebSocket: /ws, /rpc\nAlso: /healthz /readyz /metrics\n`);
});
