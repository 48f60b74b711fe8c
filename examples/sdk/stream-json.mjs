// Reads the output of a run while it runs. The events are the same for every program that prints stream-json.
import { spawn } from "node:child_process";
import { readStreamJson } from "tinman/sdk";

const [program = "tinman"] = process.argv.slice(2);
const args = ["exec", "-o", "stream-json", "run `echo hello`, then just reply DONE"];
const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });

let end;
for await (const event of readStreamJson(child.stdout)) {
  if (event.type === "message" && event.text !== "") console.log(`${event.message.role}: ${event.text}`);
  if (event.type === "tool_call") console.log(`> ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === "tool_result") console.log(`< ${event.text}`);
  if (event.type === "end") end = event;
}
// A program that was killed prints no end.
console.log(end === undefined ? "The output was cut." : `${end.status} (${end.reason})`);
