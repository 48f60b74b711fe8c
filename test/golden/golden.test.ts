import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { openWire } from "../fakes/rpc/wire.ts";
import { chooses, openEditor } from "../frontends/acp/fakes/raw-editor.ts";

/** One scripted model, and the expected output of every front end. `npm run golden` writes the current output. */

interface Scenario {
  readonly about: string;
  readonly prompt: string;
  readonly files: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  readonly replies: readonly object[];
  /** A client's choices, where it can be asked. */
  readonly answer?: string;
  /** Front ends without these flags. */
  readonly without?: readonly string[];
}

const here = fileURLToPath(new URL("./", import.meta.url));
const formats = ["text", "json", "stream-json", "stream-jsonrpc", "acp"] as const;
type Format = (typeof formats)[number];

const scenarios = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, ...(parse(readFileSync(`${here}${name}/scenario.yaml`, "utf8")) as Scenario) }));
const cases = scenarios.flatMap((scenario) =>
  formats.flatMap((format) => (scenario.without?.includes(format) ? [] : [[scenario.name, format, scenario] as const])),
);

test.each(cases)("%s, %s", async (name, format, scenario) => {
  const bench = await createBench();
  try {
    for (const [path, text] of Object.entries(scenario.files)) await bench.file(path, text);
    const model = await bench.script(scenario.replies);
    const run = await (format === "stream-jsonrpc" ? talk : format === "acp" ? edit : exec)(
      bench,
      scenario,
      model,
      format,
    );
    const shown = `${normalise(run.stdout, bench.root)}--- stderr\n${run.stderr.replaceAll(bench.root, "<root>")}--- exit ${run.code}\n`;
    const file = `${here}${name}/expected.${format}`;
    if (process.env.TINMAN_WRITE_GOLDEN === "1") await writeFile(file, shown);
    expect(shown).toBe(await readFile(file, "utf8"));
  } finally {
    await bench.remove();
  }
});

interface Shown {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

function exec(bench: Bench, { flags, prompt }: Scenario, model: string, format: Format): Promise<Shown> {
  return bench.tinman(["exec", "-o", format, ...flags, "-m", model, prompt]);
}

/** A client of the later dialect that opens a session, sends the prompt, and answers every request. */
async function talk(bench: Bench, { flags, prompt, answer }: Scenario, model: string): Promise<Shown> {
  const wire = openWire(bench, { args: [...flags, "-m", model], protocolVersion: "1.15.0" });
  wire.subscribe((message) => {
    if (message.type === "request") wire.answer(message, { selectedOption: answer });
  });
  await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd }, { id: "1" });
  await wire.request("droid.add_user_message", { text: prompt, messageId: "mine" }, { id: "2" });
  await wire.waitForNotice("droid_working_state_changed", 0, { newState: "idle" });
  wire.eof();
  const { code, stderr } = await wire.exit();
  return { stdout: wire.received.map((message) => `${JSON.stringify(message)}\n`).join(""), stderr, code };
}

/** An editor that opens a session, waits for its updates, sends the prompt, and answers every request. */
async function edit(bench: Bench, { flags, prompt, answer }: Scenario, model: string): Promise<Shown> {
  const editor = openEditor(bench, { args: [...flags, "-m", model], answers: () => chooses(answer ?? "") });
  await editor.hello();
  const sessionId = await editor.open(bench.cwd);
  await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "available_commands_update");
  // The list of commands is always the same, and is in the docs.
  const before = editor.wire.received.length;
  await editor.prompt(sessionId, prompt);
  const { code, stderr } = await editor.leave();
  const lines = editor.wire.received.slice(before).map((message) => `${JSON.stringify(message)}\n`);
  return { stdout: lines.join(""), stderr, code };
}

/** Replaces ids and traces by their order of appearance, times by 0, and the workspace by its name; nothing else. */
function normalise(text: string, root: string): string {
  const inOrder = (kind: string): ((id: string) => string) => {
    const known = new Map<string, string>();
    return (id) => {
      const name = known.get(id) ?? `<${kind}-${known.size + 1}>`;
      known.set(id, name);
      return name;
    };
  };
  const traces = inOrder("trace");
  return (
    text
      .replaceAll(root, "<root>")
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, inOrder("id"))
      .replace(/00-([0-9a-f]{32})-[0-9a-f]{16}-01/g, (_, trace: string) => `00-${traces(trace)}-<span>-01`)
      .replace(/"(timestamp|durationMs|duration_ms|createdAt|updatedAt)":\d+/g, '"$1":0')
      .replace(/"(timestamp|updatedAt)":"[^"]*"/g, '"$1":"<time>"')
      // The model gets a description of the machine, so the estimate varies.
      .replace(/"sessionUpdate":"usage_update","used":\d+/g, '"sessionUpdate":"usage_update","used":"<tokens>"')
      .replace(/\/specs\/\d{4}-\d\d-\d\d/g, "/specs/<day>")
  );
}
