import { existsSync, realpathSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Received, Wire } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";
import { execute, open, openDialect, prompt, quiet } from "./raw-client.ts";

/** Approvers see what will happen, and "always" allows no more than it says. */

let bench: Bench;
let wire: Wire;
beforeAll(async () => {
  bench = await createBench();
});
beforeEach(() => {
  wire = openDialect(bench, "later");
});
afterEach(async () => {
  wire.eof();
  expect(await wire.exit()).toEqual(quiet);
});
afterAll(() => bench.remove());

const begin = async (replies: readonly object[], params: object = {}): Promise<void> => {
  await open(wire, bench, { modelId: await bench.script(replies), autonomyLevel: "off", ...params });
  await prompt(wire, "go");
};
const asked = (from = 0): Promise<Received> => wire.waitFor(({ type }) => type === "request", "a request", from);
const idle = (): Promise<unknown> => wire.waitForNotice("droid_working_state_changed", 0, { newState: "idle" });
const optionsOf = ({ params }: Received): unknown => {
  const { options } = params as { options: { value: string; label: string }[] };
  return options.map(({ value, label }) => [value, label]);
};

const once = ["proceed_once", "Yes, allow"];
const low = ["proceed_always", "Yes, and always allow low impact commands (file edits and read-only commands)"];
const high = ["proceed_always", "Yes, and always allow high impact commands (all commands)"];
const no = ["cancel", "No, cancel"];

test("shows a link as its target", async () => {
  await symlink("/etc/hostname", join(bench.cwd, "notes.txt"));
  const path = `${realpathSync("/etc")}/hostname`;
  await begin([{ tool_calls: [{ name: "Read", input: { file_path: "notes.txt" } }] }]);
  const request = await asked();
  wire.answer(request, { selectedOption: "cancel" });
  await idle();
  expect(request.params?.toolUses).toMatchObject([
    {
      toolUse: { name: "Read", input: { file_path: "notes.txt" } },
      details: {
        type: "exec",
        fullCommand: `Read ${path}`,
        command: "Read",
        extractedCommands: ["Read"],
        impactLevel: "low",
        riskLevelReason: `Read reads ${path}, which is outside the workspace.`,
      },
    },
  ]);
  expect(optionsOf(request)).toEqual([once, low, no]);
});

test("a long pattern does not hide the folder, and is visibly cut", async () => {
  await symlink("/etc", join(bench.cwd, "docs"));
  const path = realpathSync("/etc");
  await begin([{ tool_calls: [{ name: "Grep", input: { pattern: "x".repeat(3_000), path: "docs" } }] }]);
  const request = await asked();
  wire.answer(request, { selectedOption: "cancel" });
  await idle();
  const start = `Grep ${path} {"pattern":"`;
  const more = start.length + 3_000 + '"}'.length - 2_000;
  const fullCommand = `${start.padEnd(2_000, "x")}… (${more} more characters)`;
  expect(request.params?.toolUses).toMatchObject([{ details: { fullCommand } }]);
});

test('"always" on a call that the model calls risky allows its class, and asks about the next one', async () => {
  const replies = [
    execute("touch made.txt", { riskLevel: "high" }),
    execute("git push", { riskLevel: "low" }),
    { text: "not reached" },
  ];
  await begin(replies);
  const first = await asked();
  expect(first.params?.toolUses).toMatchObject([{ details: { fullCommand: "touch made.txt", impactLevel: "high" } }]);
  expect(optionsOf(first)).toEqual([once, low, no]);
  const from = wire.received.length;
  wire.answer(first, { selectedOption: "proceed_always" });
  const second = await asked(from);
  expect(second.params?.toolUses).toMatchObject([{ details: { fullCommand: "git push", impactLevel: "high" } }]);
  expect(optionsOf(second)).toEqual([once, high, no]);
  const levels = noticesIn(wire.received.slice(from)).flatMap(({ type, settings }) =>
    type === "settings_updated" ? [settings] : [],
  );
  expect(levels).toMatchObject([{ autonomyLevel: "low" }]);
  wire.answer(second, { selectedOption: "cancel" });
  await idle();
  expect(existsSync(join(bench.cwd, "made.txt"))).toBe(true);
});

test("a call asked about only because of the model's estimate cannot be allowed always", async () => {
  await begin([execute("touch asked.txt", { riskLevel: "high" }), { text: "done" }], { autonomyLevel: "low" });
  const request = await asked();
  expect(optionsOf(request)).toEqual([once, no]);
  wire.answer(request, { selectedOption: "proceed_always" });
  await idle();
  const told = noticesIn(wire.received);
  expect(told.flatMap(({ type, selectedOption }) => (type === "permission_resolved" ? [selectedOption] : []))).toEqual([
    "proceed_once",
  ]);
  expect(existsSync(join(bench.cwd, "asked.txt"))).toBe(true);
  expect(told.filter(({ type }) => type === "settings_updated")).toMatchObject([
    { settings: { autonomyLevel: "low" } },
  ]);
});
