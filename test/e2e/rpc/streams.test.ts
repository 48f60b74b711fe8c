import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Received } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench, lines } from "../tinman.ts";
import { endOf, endsIn, execute, formats, gone, lasting, line, logOf, pidIn, quiet } from "./raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const opening = (params: object = {}): string =>
  line("later", "open", "initialize_session", { machineId: "m", cwd: bench.cwd, ...params });

describe.concurrent("when the reader stops", () => {
  interface Deaf {
    readonly child: ReturnType<Bench["start"]>;
    readonly sessionId: string;
    readonly closed: Promise<object>;
    send(text: string): void;
  }

  /** A program with a session, whose output is not read from then on. */
  async function deafTo(replies: readonly object[]): Promise<Deaf> {
    const child = bench.start(formats);
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("The program was started without pipes.");
    let errors = "";
    stderr.on("data", (chunk: Buffer) => {
      errors += String(chunk);
    });
    stdin.on("error", () => undefined);
    const closed = new Promise<object>((resolve) => {
      child.on("exit", (code, signal) => resolve({ code, signal, stderr: errors }));
    });
    stdin.write(opening({ modelId: await bench.script(replies), autonomyLevel: "high" }));
    let said = "";
    while (!said.includes('"id":"open"')) {
      said += await new Promise<string>((resolve) => stdout.once("data", (chunk) => resolve(String(chunk))));
    }
    stdout.pause();
    const sessionId = /"sessionId":"([^"]+)"/.exec(said)?.[1] ?? "";
    return { child, sessionId, closed, send: (text) => void stdin.write(text) };
  }
  const go = line("later", "p", "add_user_message", { text: "go" });
  const next = line("later", "next", "list_skills");
  const brokenPipe = { code: 141, signal: null, stderr: "" };

  test("in the middle of a long answer, the program ends quietly", async () => {
    const modelId = await bench.script([{ repeat_text: { text: "0123456789abcdef", times: 100_000 } }]);
    await bench.file("long.jsonl", opening({ modelId }) + go);
    // A pipe that stays open behind its content.
    const run = await bench.shell(
      `mkfifo open; exec 3<>open; cat long.jsonl >&3; tinman ${formats.join(" ")} <&3 | head -n 8 > heard; echo "\${PIPESTATUS[0]}"`,
    );
    expect([run.stdout, run.stderr, (await bench.read("heard")).split("\n").length]).toEqual(["141\n", "", 9]);
  });

  test("while nothing runs, the next output reveals it", async () => {
    const { child, closed, send } = await deafTo([{ text: "x" }]);
    child.stdout?.destroy();
    send(next);
    expect(await closed).toEqual(brokenPipe);
  });

  test("while a command runs, the command is ended", async () => {
    const { child, closed, send, sessionId } = await deafTo([execute(lasting("pid-pipe"))]);
    send(go);
    const pid = await pidIn(bench, "pid-pipe");
    child.stdout?.destroy();
    send(next);
    expect(await closed).toEqual(brokenPipe);
    await gone(pid);
    expect(await endsIn(bench, sessionId)).toEqual(["interrupted"]);
  });

  /** Until the program has no more to do. */
  async function untilHeld(sessionId: string): Promise<void> {
    for (let [before, now] = [-1, 0]; now === 0 || now > before; ) {
      await pause(200);
      [before, now] = [now, (await logOf(bench, sessionId)).filter(({ type }) => type === "message.checkpoint").length];
    }
  }
  const pieces = Array.from({ length: 20_000 }, (_, at) => `word ${at} `);

  test("for a while, the model is held back and nothing is lost", async () => {
    const { child, closed, send, sessionId } = await deafTo([{ text: pieces }]);
    send(go);
    await untilHeld(sessionId);
    expect(await endsIn(bench, sessionId)).toEqual([]);
    child.stdin?.end();
    let said = "";
    for await (const chunk of child.stdout ?? []) said += String(chunk);
    expect(await closed).toEqual(quiet);
    const notices = noticesIn(lines(said) as Received[]);
    const deltas = notices.flatMap(({ textDelta }) => (textDelta === undefined ? [] : [textDelta]));
    expect(deltas.join("")).toBe(pieces.join(""));
    expect(notices.slice(-2)).toEqual(endOf("completed"));
  });

  test("completely, a signal still works", async () => {
    const { child, closed, send, sessionId } = await deafTo([{ text: pieces }]);
    send(go);
    await untilHeld(sessionId);
    child.kill("SIGTERM");
    expect(await closed).toEqual({ code: 143, signal: null, stderr: "" });
    expect(await endsIn(bench, sessionId)).toEqual(["interrupted"]);
    child.stdout?.destroy();
  });
});

describe.concurrent("standard streams may be anything", () => {
  const program = `tinman ${formats.join(" ")}`;
  test("input that is closed, empty, a file or a folder", async () => {
    await bench.file("requests.jsonl", opening() + line("later", "p", "add_user_message", { text: "Just reply OK." }));
    for (const input of ["<&-", "< /dev/null", "< /"]) {
      expect([input, await bench.shell(`${program} ${input}`)]).toEqual([
        input,
        { code: 0, signal: null, stdout: "", stderr: "" },
      ]);
    }
    const { code, stdout, stderr } = await bench.shell(`${program} < requests.jsonl`);
    expect([code, stderr, stdout.trim().split("\n").at(-1)]).toEqual([0, "", expect.stringContaining('"idle"')]);
  });

  test("errors that cannot be written, and output that cannot", async () => {
    await bench.file("one.jsonl", opening());
    const mute = await bench.shell(`${program} --log-level debug 2>&- < one.jsonl`);
    expect([mute.code, mute.stdout.trim().split("\n").length]).toEqual([0, 3]);
    expect(await bench.shell(`${program} 2> /dev/full --log-level debug < one.jsonl`)).toMatchObject({ code: 0 });
    expect(await bench.shell(`${program} >&- < one.jsonl`)).toMatchObject({ code: 0, stderr: "" });
    const full = await bench.shell(`${program} > /dev/full < one.jsonl`);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining("ENOSPC")]);
  });
});
