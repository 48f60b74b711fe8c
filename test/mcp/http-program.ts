import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { onTestFinished } from "vitest";
import { program } from "./sessions.ts";

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The server of all features over HTTP. It ends with the test. */
export async function startEverything(
  kind: "streamableHttp" | "sse",
  port?: number,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const chosen = port ?? (await freePort());
  const { command, args } = program("@modelcontextprotocol/server-everything", kind);
  const env = { PATH: process.env.PATH, PORT: String(chosen) };
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => stop(child));
  await new Promise<void>((resolve) => {
    let text = "";
    child.stderr?.on("data", (bytes) => {
      text += String(bytes);
      if (/running on port|listening/i.test(text)) resolve();
    });
  });
  return { port: chosen, child };
}
