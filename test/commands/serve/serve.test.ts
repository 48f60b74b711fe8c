import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { printServeLink } from "../../../src/commands/serve/serve-link.ts";
import { defineServe } from "../../../src/commands/serve/serve-options.ts";
import { printServeToken } from "../../../src/commands/serve/serve-token.ts";
import type { Io, Output } from "../../../src/frontends/front-end.ts";
import { hashOf } from "../../../src/server/token-file.ts";
import { newHome, serve } from "../../server/served.ts";

async function given(...argv: readonly string[]): Promise<unknown> {
  const seen: unknown[] = [];
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  defineServe(program, {
    serve: async (options) => void seen.push(["serve", options]),
    token: async (options) => void seen.push(["token", options]),
    link: async (options) => void seen.push(["link", options]),
  });
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => undefined });
  await program.parseAsync(["serve", ...argv], { from: "user" });
  return seen[0];
}

function recorder(): Io & { readonly text: () => string } {
  let text = "";
  const output: Output = {
    isTerminal: false,
    columns: 80,
    gone: new AbortController().signal,
    write: async (more) => {
      text += more;
    },
  };
  return { stdout: output, stderr: output, onSignal: () => () => {}, text: () => text };
}

test("serves with defaults", async () => {
  expect(await given()).toEqual(["serve", { host: "127.0.0.1", port: 8_000, auth: true, logLevel: "info" }]);
});

test("every option reaches the command", async () => {
  const words = "--host ::1 --port 0 --allow-remote --no-auth --config a.yaml --cwd /x -m offline --log-level debug";
  expect(await given(...words.split(" "))).toEqual([
    "serve",
    {
      host: "::1",
      port: 0,
      allowRemote: true,
      auth: false,
      config: "a.yaml",
      cwd: "/x",
      model: "offline",
      logLevel: "debug",
    },
  ]);
});

test("options after a subcommand belong to that subcommand", async () => {
  expect(await given("link", "--port", "9000", "--host", "::1")).toEqual(["link", { host: "::1", port: 9_000 }]);
  expect(await given("link")).toEqual(["link", { host: "127.0.0.1", port: 8_000 }]);
  expect(await given("token", "--json")).toEqual(["token", { json: true }]);
});

test.each([
  ["--port", "65536"],
  ["--port", "-1"],
  ["--port", "80x"],
  ["--log-level", "loud"],
  ["more"],
  ["link", "--port", "x"],
])("%s %s is a usage error", async (...argv) => {
  await expect(given(...argv)).rejects.toMatchObject({ code: expect.stringMatching(/^commander\./) });
});

test("prints a new token with its hash each time", async () => {
  const [one, two] = [recorder(), recorder()];
  expect([await printServeToken({}, one), await printServeToken({ json: true }, two)]).toEqual([0, 0]);
  const [, token = "", hash] = /^token {2}([\w-]{43})\nhash {3}(\S+)\n$/.exec(one.text()) ?? [];
  expect(hash).toBe(hashOf(token));
  const other = JSON.parse(two.text()) as { token: string; hash: string };
  expect([other.hash, other.token === token]).toEqual([hashOf(other.token), false]);
});

test("a link comes from the running server, and opens it once", async () => {
  const { home, port, ask } = await serve();
  const io = recorder();
  expect(await printServeLink({ host: "127.0.0.1", port }, io, { TINMAN_HOME: home })).toBe(0);
  const { origin, pathname, search } = new URL(io.text().trim());
  expect(origin).toBe(`http://127.0.0.1:${port}`);
  expect([(await ask(pathname + search)).code, (await ask(pathname + search)).code]).toEqual([200, 401]);
});

test("reports a missing token, a missing server, and a different one", async () => {
  const { home, port, server } = await serve();
  const other = await serve();
  const empty = await newHome();
  const stranger = createServer((_, response) => void response.end('{"url":"file:///etc/passwd"}'));
  await new Promise<void>((resolve) => void stranger.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void stranger.close());
  const strangePort = (stranger.address() as AddressInfo).port;
  const words = async (at: number, TINMAN_HOME: string): Promise<unknown> => {
    const error = await printServeLink({ host: "127.0.0.1", port: at }, recorder(), { TINMAN_HOME }).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code: "usage" });
    return (error as Error).message;
  };
  expect(await words(port, empty)).toBe(
    `${join(empty, "serve-token")} does not exist. tinman serve creates it when it starts.`,
  );
  expect(await words(other.port, home)).toBe(
    `The server at 127.0.0.1, port ${other.port} rejected this machine's token. It probably runs with another TINMAN_HOME.`,
  );
  expect(await words(strangePort, home)).toBe(
    `The server at 127.0.0.1, port ${strangePort} is not tinman serve (it answered with 200).`,
  );
  await server.close();
  expect(await words(port, home)).toMatch(`No server answers at 127.0.0.1, port ${port}: connect ECONNREFUSED`);
});
