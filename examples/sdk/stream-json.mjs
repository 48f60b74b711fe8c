// Reads a run's output live. The events are the same for every program that prints stream-json.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readStreamJson } from "tinman/sdk";

// This package's program, run by this Node, or the one given, such as droid.
const tinman = fileURLToPath(new URL("dist/main.cjs", import.meta.resolve("tinman/package.json")));
const [named] = process.argv.slice(2);
const run = ["exec", "-o", "stream-json", "run `echo hello`, then just reply DONE"];
const [program, args] = named === undefined ? [process.execPath, [tinman, ...run]] : [named, run];
const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });

let end;
for await (const event of readStreamJson(child.stdout)) {
  if (event.type === "message" && event.text !== "") console.log(`${event.message.role}: ${event.text}`);
  if (event.type === "tool_call") console.log(`> ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === "tool_result") console.log(`< ${event.text}`);
  if (event.type === "end") end = event;
}
// A killed program prints no end.
console.log(end === undefined ? "The output was truncated." : `${end.status} (${end.reason})`);
