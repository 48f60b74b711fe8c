import { expect, it } from "vitest";
import { openSession, script } from "./sessions.ts";

const odd = script("odd.mjs");

it("a flood of notifications and requests does not stop calls", async () => {
  const session = openSession({ given: { odd, other: odd } });
  await session.settled();
  const flood = session.call("odd___flood", { count: 1_000 });
  expect(await session.call("other___look")).toMatchObject({ text: "version 1" });
  expect(await flood).toEqual({ status: "ok", text: "flooded" });
});

it("an answer of 50 MB ends the connection, and a large one comes through", async () => {
  const session = openSession({ given: { odd } });
  await session.settled();
  expect(await session.call("odd___huge", { megabytes: 50 })).toEqual({
    status: "failed",
    text: "Error: The server odd did not answer. The server sent a message of more than 16 MiB.",
  });
  const { status, text } = await session.call("odd___huge", { megabytes: 3 });
  expect([status, text.length]).toEqual(["ok", 3 * 1024 * 1024]);
  expect(await session.call("odd___wide", { count: 20_000 })).toMatchObject({ status: "ok" });
});

it("too many tools are cut, with a notice", async () => {
  const session = openSession({ given: { odd: script("odd.mjs", "many") } });
  await session.settled();
  expect(session.servers.list()).toHaveLength(1000);
  expect(session.events.flatMap((event) => (event.type === "notice" ? [event.text] : []))).toEqual([
    "Only 1000 tools of the server odd are offered: the others are malformed or too many.",
  ]);
});

it("hostile names become names that providers accept, each unique", async () => {
  const session = openSession({ given: { odd: script("odd.mjs", "names") } });
  await session.settled();
  const tools = session.servers.list();
  expect(tools.map(({ name }) => name)).toEqual([
    "odd______x",
    "odd___a___b",
    "odd___with__31mcolour_",
    "odd____n_",
    expect.stringMatching(/^odd____n_-[0-9a-f]{7}$/),
    expect.stringMatching(/^odd___x{50}-[0-9a-f]{7}$/),
    expect.stringMatching(/^odd___x{50}-[0-9a-f]{7}$/),
    "odd___nothing",
    "odd___long",
    "odd___any",
  ]);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  expect(tools[2]?.title).toBe("with\\u{1b}[31mcolour (odd)");
  expect(tools.map(({ description }) => description.length > 8000)).not.toContain(true);
  expect(tools.at(-1)?.inputSchema).toBe('{"anyOf":[],"type":"object"}');
});

it("a tool that changed is not called under its old definition", async () => {
  const session = openSession({ given: { odd } });
  await session.settled();
  const { servers } = session;
  const marks = async () => {
    const tool = servers.list().find(({ name }) => name === "odd___look");
    const body = await tool?.load();
    return [body, await body?.access({}, undefined as never)] as const;
  };
  const [old, before] = await marks();
  const version = servers.version;
  await session.call("odd___change");
  await session.until(() => servers.version > version);
  const [, after] = await marks();
  expect(after).not.toEqual(before);
  const mark = expect.any(String);
  expect(after).toEqual([
    { type: "server", class: "low", server: "odd", tool: "look", marks: { server: mark, tool: mark } },
  ]);
  const why =
    "The tool look of the server odd has changed since it was offered, so nothing was run. Look at its new description.";
  expect(await old?.run({}, undefined as never)).toEqual({ status: "failed", text: `Error: ${why}` });
  await expect(old?.access({}, undefined as never)).rejects.toThrow(why);
  expect(servers.list().map(({ name }) => name)).toContain("odd___new");
});
