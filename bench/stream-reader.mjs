import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ask } from "./bare-client.cjs";

/**
 * Reads a reply twice and prints the CPU microseconds per piece of the second one.
 * `floor <port> <wire> <model>`: with `node:http` alone. `tinman <bundle> <wire> <chunks>`: with a run's engine.
 */

const [kind, ...rest] = process.argv.slice(2);
const readOnce = kind === "floor" ? floorReader(rest) : await tinmanReader(rest);

await readOnce();
const before = process.cpuUsage();
const lines = await readOnce();
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / lines}\n`);
process.exit();

/** @param {readonly string[]} rest */
function floorReader([port = "", wire = "", model = ""]) {
  return async () => {
    const out = sink();
    await ask({ port, wire, model, onText: (text) => out.write(`${JSON.stringify({ type: "delta", text })}\n`) });
    return out.lines();
  };
}

/** @param {readonly string[]} rest */
async function tinmanReader([bundle = "", wire = ""]) {
  /** @type {typeof import("../src/compose.ts")} */
  const { compose } = await import(pathToFileURL(join(bundle, "compose.mjs")).href);
  const { engine } = await compose();
  return async () => {
    const out = sink();
    const session = await engine.create({
      cwd: process.cwd(),
      settings: { modelId: wire, reasoningEffort: "none", autonomy: "off", mode: "auto" },
    });
    const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
    const read = (async () => {
      for await (const event of attachment.events()) {
        if (event.type === "message.delta") out.write(`${JSON.stringify({ type: "delta", text: event.text })}\n`);
      }
    })();
    const { reason, failure } = await session.prompt([{ type: "text", text: "hi" }]).outcome;
    if (reason !== "completed") throw new Error(`the turn ended as ${reason}: ${failure?.message}`);
    await session.close();
    await read;
    return out.lines();
  };
}

/** Consumes every line. */
function sink() {
  let lines = 0;
  let characters = 0;
  return {
    /** @param {string} line */
    write(line) {
      lines += 1;
      characters += line.length;
    },
    lines() {
      if (characters < lines) throw new Error("lines without a character");
      return lines;
    },
  };
}
