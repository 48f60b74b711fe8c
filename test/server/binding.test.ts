import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkBinding } from "../../src/server/origin-check.ts";
import { serve } from "./served.ts";

/** Other machines must never get access by omission. */

const bind = (host: string, { allowRemote = false, auth = true } = {}): string =>
  checkBinding({ host, allowRemote, auth });

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["127.8.9.1", "127.8.9.1"],
  ["localhost", "127.0.0.1"],
  ["::1", "::1"],
  ["[::1]", "::1"],
])("%s is reachable only from this machine", (host, address) => {
  expect([bind(host), bind(host, { auth: false }), bind(host, { allowRemote: true })]).toEqual([
    address,
    address,
    address,
  ]);
});

test.each([
  "0.0.0.0",
  "::",
  "192.168.1.5",
  "agent.example.org",
  "127.1",
  "0",
  "localhost.evil.example",
  "127.evil.example",
  "::ffff:127.0.0.1",
])("%s needs a flag", (host) => {
  expect(() => bind(host)).toThrow(
    expect.objectContaining({
      code: "usage",
      message: `--host ${host} is reachable from other machines. Add --allow-remote to allow that.`,
    }),
  );
  expect(bind(host, { allowRemote: true })).toBe(host);
  expect(() => bind(host, { auth: false })).toThrow(expect.objectContaining({ code: "usage" }));
});

test("an empty host means every address, and also needs the flag", () => {
  expect(() => bind("")).toThrow(expect.objectContaining({ code: "usage" }));
});

test.each(["127.0.0.1", "0.0.0.0"])("rejects no authentication together with --allow-remote for %s", (host) => {
  expect(() => bind(host, { allowRemote: true, auth: false })).toThrow(
    expect.objectContaining({
      code: "usage",
      message: "--no-auth cannot be combined with --allow-remote, because anyone could connect.",
    }),
  );
});

test("reports a port in use in one line", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  await expect(serve({ port })).rejects.toMatchObject({
    code: "usage",
    message: `Port ${port} of 127.0.0.1 is already in use. Choose another one with --port, or 0 for any free one.`,
  });
});

test("reports another machine's address in one line", async () => {
  await expect(serve({ host: "192.0.2.1" })).rejects.toMatchObject({
    code: "usage",
    message: "192.0.2.1 is not an address of this machine.",
  });
});

test("reports where it listens", async () => {
  const { server, port } = await serve();
  expect(server.address()).toEqual({ host: "127.0.0.1", port, url: `http://127.0.0.1:${port}` });
});
