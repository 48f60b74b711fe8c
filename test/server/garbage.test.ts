import { once } from "node:events";
import { expect, test } from "vitest";
import { bearer, nextText, type Served, serve, until } from "./served.ts";

/** Malformed or unfinished requests never end the server. */

async function isUp(served: Served): Promise<boolean> {
  const socket = await served.open();
  socket.send("still there");
  return (await nextText(socket)) === "still there";
}

const upgrade = (token: string, ...lines: readonly string[]): string =>
  [
    "GET /ws HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    ...lines,
    "",
    "",
  ].join("\r\n");

test.each([
  ["noise", "\x00\x01\x02\xff".repeat(100), /^HTTP\/1\.1 400 /],
  ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", /^HTTP\/1\.1 400 /],
  ["an unfinished head", `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}`, /^HTTP\/1\.1 431 /],
  ["another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 400 /],
  [
    "two lengths",
    "POST /links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "both a length and chunks",
    "POST /links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
])("%s is answered or disconnected", async (_, text, answer) => {
  const served = await serve();
  expect(await served.raw(text)).toMatch(answer);
  expect(await isUp(served)).toBe(true);
});

test.each([
  ["no key", []],
  ["a wrong key", ["Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"]],
  ["an unknown version", ["Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 99"]],
  ["no version", ["Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA=="]],
])("a handshake with %s is 400", async (_, lines) => {
  const served = await serve();
  expect(await served.raw(upgrade(served.token, ...lines))).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect([served.seen.length, await isUp(served)]).toEqual([0, true]);
});

test("an upgrade to another protocol, or without a WebSocket at that path, is 400", async () => {
  const { raw, token } = await serve();
  expect(await raw(upgrade(token).replace("/ws", "/healthz"))).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw(upgrade(token).replace("websocket", "h2c"))).toMatch(/^HTTP\/1\.1 400 /);
});

test("an upgrade behind an unanswered request is 400, after that response; one behind a response is accepted", async () => {
  const served = await serve();
  const health = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${served.token}\r\n\r\n`;
  const handshake = upgrade(served.token, "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 13");
  const codesIn = (text: string): readonly string[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code = ""]) => code);
  expect(codesIn(await served.raw(`${health}${health}${handshake}`))).toEqual(["200", "200", "400"]);
  const refused = upgrade("wrong");
  expect(codesIn(await served.raw(`${health}${refused}`))).toEqual(["200", "401"]);
  expect(served.seen).toEqual([]);
  const { body } = await served.ask("/metrics", { headers: bearer(served.token) });
  expect(body).toContain('tinman_connections_refused_total{reason="handshake"} 1\n');

  const socket = served.tcp();
  let heard = "";
  socket.on("data", (part) => {
    if (heard === "") socket.write(handshake);
    heard += part.toString("latin1");
  });
  socket.write(health);
  await until(() => codesIn(heard).length === 2);
  expect(codesIn(heard)).toEqual(["200", "101"]);
});

test("a CONNECT request is checked, counted and logged like others, and gets no tunnel", async () => {
  const served = await serve();
  const tunnel = (...lines: readonly string[]): Promise<string> =>
    served.raw(["CONNECT evil.example:443 HTTP/1.1", ...lines, "", ""].join("\r\n"));
  const authorization = `Authorization: Bearer ${served.token}`;
  const page = "Origin: http://evil.example";
  expect(await tunnel("Host: evil.example:443", authorization)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await tunnel("Host: localhost", authorization, page)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await tunnel("Host: localhost")).toMatch(/^HTTP\/1\.1 401 .*\r\nWWW-Authenticate: Bearer\r\n/s);
  expect(await tunnel("Host: localhost", authorization)).toMatch(/^HTTP\/1\.1 405 .*\r\nAllow: GET, POST\r\n/s);
  const told = served.log().filter(({ event }) => event === "access.refused");
  const of = { method: "CONNECT", path: "evil.example:443", from: "127.0.0.1" };
  expect(told).toMatchObject([
    { reason: "host", code: 403, ...of },
    { reason: "origin", code: 403, ...of },
    { reason: "token", code: 401, ...of },
    { reason: "method", code: 405, ...of },
  ]);
  const { body } = await served.ask("/metrics", { headers: bearer(served.token) });
  for (const counted of ['"403"} 2', '"401"} 1', '"405"} 1']) {
    expect(body).toContain(`tinman_http_requests_total{route="other",code=${counted}\n`);
  }
  expect(await isUp(served)).toBe(true);
});

test("silent and incomplete clients are disconnected", async () => {
  const served = await serve({ headersMs: 100 });
  const said = ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n", `${upgrade(served.token).slice(0, -2)}`];
  const answers = await Promise.all(said.map((text) => served.raw(text)));
  expect(answers.every((answer) => answer === "" || answer.startsWith("HTTP/1.1 408 "))).toBe(true);
  expect(await isUp(served)).toBe(true);
});

test("connections reset at any moment end nothing else", async () => {
  const served = await serve();
  const handshake = upgrade(served.token, "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 13");
  const texts = [
    "GET / HTTP/1.1\r\n",
    `GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${served.token}\r\n\r\n`,
    handshake,
    `${handshake}\x81\x85`,
    `${handshake}\x81\xfe\xff\xff`,
    upgrade("wrong"),
    upgrade(served.token, "Sec-WebSocket-Key: x"),
  ];
  for (let round = 0; round < 8; round += 1) {
    for (const text of texts) {
      const socket = served.tcp();
      socket.write(Buffer.from(text, "latin1"));
      if (round % 4 === 0) socket.resetAndDestroy();
      else if (round % 4 === 1) setImmediate(() => socket.resetAndDestroy());
      else if (round % 4 === 2) setTimeout(() => socket.resetAndDestroy(), 5);
      else socket.once("data", () => socket.resetAndDestroy());
    }
  }
  expect(await isUp(served)).toBe(true);
  await until(async () => {
    const { body } = await served.ask("/metrics", { headers: bearer(served.token) });
    return body.includes('tinman_connections{route="/ws"} 1\n');
  });
});

test("frames that violate the protocol close their connection", async () => {
  const served = await serve();
  const handshake = upgrade(served.token, "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 13");
  const frames = [
    "\x81\x05hello",
    "\xf1\x80\x00\x00\x00\x00",
    "\x83\x80\x00\x00\x00\x00",
    "\x89\xfe\x00\xff\x00\x00\x00\x00",
    "\x80\x80\x00\x00\x00\x00",
  ];
  for (const frame of frames) {
    const socket = served.tcp();
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.resume();
    socket.write(Buffer.from(`${handshake}${frame}`, "latin1"));
    await closed;
  }
  expect(served.seen.map(({ lines }) => lines)).toEqual(frames.map(() => []));
  await until(() => served.seen.every(({ calls }) => calls.includes("closed")));
  expect(await isUp(served)).toBe(true);
});

test("a hundred thousand small frames are read at the reader's pace", async () => {
  const served = await serve();
  const socket = await served.open();
  let heard = 0;
  socket.on("message", () => {
    heard += 1;
  });
  for (let at = 0; at < 100_000; at += 1) socket.send("!");
  await until(() => heard === 100_000);
  expect(served.seen[0]?.lines.length).toBe(100_000);
});

test.each(["/ws", "/rpc"])("%s accepts a client that offers subprotocols, and selects none", async (path) => {
  const { tcp, token } = await serve();
  const handshake = upgrade(
    token,
    "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Protocol: graphql-ws, mqtt",
  );
  const socket = tcp();
  socket.write(handshake.replace("/ws", path));
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /);
  expect(answer.toString().toLowerCase()).not.toContain("sec-websocket-protocol");
});
