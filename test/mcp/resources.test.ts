import { expect, it } from "vitest";
import { FakeClock, until } from "../fakes/kit.ts";
import { fakePrograms } from "./fake-program.ts";
import { openSession, program } from "./sessions.ts";

const everything = program("@modelcontextprotocol/server-everything");

it("resources are listed and read through one tool, while a server has some", async () => {
  const session = openSession({ given: { everything } });
  expect(session.servers.list()).toEqual([]);
  await session.settled();
  const tool = session.servers.list().at(-1);
  expect(tool).toMatchObject({ name: "ReadMcpResource", kind: "read", concurrent: true });
  const mark = expect.any(String);
  const body = await tool?.load();
  expect(await body?.access({ server: "everything" }, undefined as never)).toEqual([
    { type: "server", class: "low", server: "everything", tool: "resources/read", marks: { server: mark, tool: mark } },
  ]);
  const { text } = await session.call("ReadMcpResource", { server: "everything" });
  expect(text).toContain("demo://resource/static/document/features.md – features.md, ");
  expect(text).toContain("demo://resource/dynamic/text/{resourceId} – ");
  const read = await session.call("ReadMcpResource", {
    server: "everything",
    uri: "demo://resource/static/document/structure.md",
  });
  expect(read).toMatchObject({
    status: "ok",
    text: expect.stringMatching(/^\[demo:\/\/resource\/static\/document\/structure\.md\]\n# Everything Server/),
  });
  const blob = await session.call("ReadMcpResource", { server: "everything", uri: "demo://resource/dynamic/blob/1" });
  expect(blob.text).toMatch(/^\[demo:\/\/resource\/dynamic\/blob\/1\] \[a file: text\/plain, about \d+ bytes\.\]$/);
  const missing = await session.call("ReadMcpResource", { server: "everything", uri: "demo://none" });
  expect(missing).toEqual({
    status: "failed",
    text: "Error: The server everything reported: MCP error -32602: Resource demo://none not found.",
  });
  await expect(session.call("ReadMcpResource", { server: "other" })).rejects.toThrow(
    "The server other has no resources. Servers with resources: everything",
  );
});

it("prompts are offered to people, with their arguments", async () => {
  const session = openSession({ given: { everything } });
  await session.settled();
  const { servers } = session;
  await until(() => servers.prompts().length > 0);
  expect(servers.prompts()[1]).toEqual({
    server: "everything",
    name: "args-prompt",
    description: "A prompt with two arguments, one required and one optional",
    arguments: [
      { name: "city", description: "Name of the city", required: true },
      { name: "state", required: false },
    ],
  });
  expect(await servers.promptText("everything", "args-prompt", { city: "Rome" })).toContain("Rome");
  await expect(servers.promptText("everything", "args-prompt", {})).rejects.toMatchObject({
    code: "usage",
    message: "The prompt args-prompt needs the argument city.",
  });
  await expect(servers.promptText("everything", "none", {})).rejects.toMatchObject({ code: "usage" });
});

it("a server that does not answer for a prompt fails in words", async () => {
  const clock = new FakeClock();
  const programs = fakePrograms();
  const { initialize } = programs.answers;
  programs.answers.initialize = (params) => ({ ...Object(initialize?.(params)), capabilities: { prompts: {} } });
  programs.answers["prompts/list"] = () => ({ prompts: [{ name: "p" }] });
  const session = openSession({
    clock,
    startProgram: programs.start,
    given: { x: { kind: "stdio", command: "x", args: [], env: {} } },
  });
  await session.settled();
  await until(() => session.servers.prompts().length > 0);
  const text = session.servers.promptText("x", "p", {});
  await until(() => programs.heard.includes("prompts/get"));
  clock.advance(600_000);
  await expect(text).rejects.toMatchObject({
    code: "server_failed",
    message: "The server x did not answer. It took more than 600 s.",
  });
});
