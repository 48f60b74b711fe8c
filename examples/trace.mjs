#!/usr/bin/env node
// Logs the wire: starts a backend, passes everything on unchanged, and writes each line to a file with its time and
// direction. Let the client start it instead of the backend.
//
//   node trace.mjs <file> [command …]
//
// Without a command: TINMAN, or `tinman`, as a stream-jsonrpc backend.
import { spawn } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";

const [file, ...given] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("usage: node trace.mjs <file> [command …]\n");
  process.exit(2);
}
const formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
const usual = [process.env.TINMAN ?? "tinman", "exec", ...formats];
const [command, ...args] = given.length > 0 ? given : usual;

// Private, because a conversation can contain secrets.
const log = openSync(file, "a", 0o600);
const note = (mark, text) => writeSync(log, `${new Date().toISOString()} ${mark} ${text}\n`);

/** Logged before it is passed on, so that the file has causes before effects. */
function passOn(from, to, mark) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  from.on("data", (bytes) => {
    const lines = (rest + decoder.write(bytes)).split("\n");
    rest = lines.pop();
    for (const line of lines) note(mark, line);
  });
  from.on("end", () => rest !== "" && note(mark, rest));
  from.pipe(to);
}

const backend = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
note("!", `start ${[command, ...args].join(" ")}`);
passOn(process.stdin, backend.stdin, ">");
passOn(backend.stdout, process.stdout, "<");

// A side that is gone is detected by its end, which is passed on.
backend.stdin.on("error", () => process.stdin.destroy());
process.stdout.on("error", () => backend.stdout.destroy());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => backend.kill(signal));

backend.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  note("!", error.message);
  process.exitCode = 127;
  process.stdin.destroy();
});
backend.on("close", (code, signal) => {
  note("!", `exit ${code ?? signal}`);
  process.exitCode ??= code ?? 128 + constants.signals[signal];
  process.stdin.destroy();
});
