import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench } from "../../../e2e/tinman.ts";
import { isFullRun } from "../../../full-run.ts";
import { isAlive, until } from "../../../sdk/fakes/stand-ins.ts";
import { type BadFolder, badBackend, badFolder } from "../fakes/bad-folders.ts";
import { type Answer, type Editor, openEditor, textOf } from "../fakes/raw-editor.ts";

/* The value of --backend, and what remains when the editor leaves. */

let bench: Bench;

beforeAll(async () => {
  bench = await createBench();
});

afterAll(() => bench.remove());

const start = async (backend: string): Promise<Editor> => {
  const editor = openEditor(bench, { args: ["--backend", backend] });
  await editor.hello();
  return editor;
};

const opening = async (backend: string, cwd = bench.cwd): Promise<Answer> => {
  const editor = await start(backend);
  const answer = await editor.request("session/new", { cwd, mcpServers: [] });
  expect(await editor.leave()).toMatchObject({ code: 0 });
  return answer;
};

/** A program in the bench, which the shell runs. */
function program(name: string, code: string): string {
  const file = join(bench.root, name);
  writeFileSync(file, `#!/bin/sh\n${code}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("the command of a backend", () => {
  it.each([
    ["does not exist", () => join(bench.root, "nowhere"), "does not exist"],
    ["is not on the PATH", () => "no-such-backend", "No program no-such-backend on PATH."],
    ["is a folder", () => bench.root, "is not executable"],
    ["is a line of the shell that finds nothing", () => "no-such-backend --now", "no-such-backend"],
  ])("that %s is rejected with a message", async (_, command, words) => {
    expect(await opening(command())).toMatchObject({
      error: {
        code: -32603,
        message: expect.stringContaining(words),
        data: { code: expect.stringMatching(/^backend_/) },
      },
    });
  });

  it("of one word gets the protocol's options, and its stderr is reported", async () => {
    const complains = program("complains", 'echo "unknown: $*" >&2; exit 4');
    expect(await opening(complains)).toEqual({
      error: {
        code: -32603,
        message:
          "complains ended with exit code 4.\nunknown: exec --input-format stream-jsonrpc --output-format stream-jsonrpc",
        data: {
          code: "backend_gone",
          exitCode: 4,
          signal: null,
          stderr: "unknown: exec --input-format stream-jsonrpc --output-format stream-jsonrpc\n",
        },
      },
    });
  });

  it("of more words is run by the shell as written, in the session's folder", async () => {
    const { cwd } = badFolder(bench.root, "shell words", "good");
    const line = `WORDS="a  b"; printf '%s|%s|%s' "$WORDS" "$HOME" "$PWD" > seen; exec ${badBackend}`;
    expect(await opening(line, cwd)).toMatchObject({ result: { sessionId: "of-shell words" } });
    expect((await bench.shell("cat seen", { cwd })).stdout).toBe(`a  b|${bench.home}|${cwd}`);
  });
});

describe("the misbehaving stand-in", () => {
  const file = fileURLToPath(new URL("../../../sdk/fakes/stand-in.mjs", import.meta.url));
  let editor: Editor;
  let count = 0;

  beforeAll(async () => {
    editor = await start(`'${process.execPath}' '${file}' "$(cat how)"`);
  });
  afterAll(() => editor.leave());

  async function turn(how: string): Promise<{ readonly answer: Answer; readonly text: string }> {
    const cwd = join(bench.root, `stand-in-${++count}`);
    await bench.shell(`mkdir '${cwd}' && printf '%s' '${how}' > '${cwd}/how'`);
    const sessionId = await editor.open(cwd);
    const from = editor.updates(sessionId).length;
    const answer = await editor.prompt(sessionId, "go");
    const text = textOf(editor.updates(sessionId).slice(from));
    await editor.request("session/close", { sessionId });
    return { answer, text };
  }

  const endTurn = { result: { stopReason: "end_turn" } };

  it.each(["garbage", "twice"])("%s: the turn is as without it", async (how) => {
    expect(await turn(how)).toEqual({ answer: endTurn, text: "Hello" });
  });

  it("flood: all of it arrives, and the turn ends", async () => {
    const { answer, text } = await turn("flood");
    expect([answer, text.startsWith("Hel0 1 2 "), text.endsWith("19999 Hello")]).toEqual([endTurn, true, true]);
  });

  it("opening the same session twice fails, and the first one continues", async () => {
    const cwd = join(bench.root, "same");
    await bench.shell(`mkdir '${cwd}' && printf none > '${cwd}/how'`);
    const sessionId = await editor.open(cwd);
    await expect(editor.open(cwd)).rejects.toThrow("which is already open");
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    await editor.request("session/close", { sessionId });
  });

  it("null-id: the prompt fails with the backend's message", async () => {
    const { answer } = await turn("null-id");
    expect(answer).toMatchObject({ error: { code: -32602, message: "Invalid request format" } });
  });

  const steps = ["before-ack", "after-ack", "busy", "mid-delta", "mid-line", "asking"];
  it.each(isFullRun ? steps : steps.slice(-2))("dies:%s: the prompt fails with its last message", async (step) => {
    const { answer } = await turn(`dies:${step}:SIGKILL`);
    expect(answer).toMatchObject({
      error: { code: -32603, message: expect.stringContaining(`last words of ${step}`) },
    });
  });
});

describe("when the editor leaves", () => {
  /** Sessions in all states of a backend, each ignoring the end of its input and SIGTERM. */
  async function left(name: string): Promise<{ readonly editor: Editor; readonly folders: readonly BadFolder[] }> {
    const editor = await start(`cat | ${badBackend} | cat`);
    const folder = (what: string, ...lives: string[]) => badFolder(bench.root, `${name}-${what}`, ...lives);
    const [idle, busy, opens, dropped] = [
      folder("idle", "deaf"),
      folder("busy", "deaf"),
      folder("opens", "deaf:mute"),
      folder("dropped", "deaf"),
    ] as const;
    const [, busyId, droppedId] = await Promise.all([idle, busy, dropped].map(({ cwd }) => editor.open(cwd)));
    const ignored = () => undefined;
    const turn = editor.prompt(String(droppedId), "go");
    await editor.waitForUpdate(String(droppedId), ({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    editor.notify("session/cancel", { sessionId: droppedId });
    editor.prompt(String(busyId), "go").catch(ignored);
    editor.request("session/new", { cwd: opens.cwd, mcpServers: [] }).catch(ignored);
    await until(() => opens.heard("initialize_session") && busy.heard("add_user_message"));
    // It was asked to end by now, and does not.
    await turn;
    return { editor, folders: [idle, busy, opens, dropped] };
  }

  function hangUp({ wire }: Editor): void {
    wire.hangUp();
    wire.eof();
  }

  const ways = [
    ["ends its input", ({ wire }: Editor) => wire.eof(), 0],
    ["sends SIGTERM", ({ wire }: Editor) => wire.kill("SIGTERM"), 143],
    ["closes both pipes", hangUp, 0],
  ] as const;

  it.each(isFullRun ? ways : ways.slice(0, 1))(
    "and %s, nothing remains, whatever the backends ignore",
    async (name, goes, code) => {
      const { editor, folders } = await left(name);
      const pids = folders.flatMap((folder) => folder.alive());
      expect(pids).toHaveLength(4);
      goes(editor);
      expect((await editor.wire.exit()).code).toBe(code);
      // Killed processes are gone once the system reaps them.
      await until(() => !pids.some(isAlive));
    },
  );
});
