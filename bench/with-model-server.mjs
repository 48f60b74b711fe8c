import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The wires, in the order of the tables, with their config.yaml entries. */
export const wires = [
  { wire: "chat", name: "OpenAI-compatible", provider: "openai-compatible", path: "/v1" },
  { wire: "responses", name: "OpenAI Responses", provider: "openai", path: "/v1" },
  { wire: "messages", name: "Anthropic Messages", provider: "anthropic", path: "/v1" },
  { wire: "google", name: "Google", provider: "google", path: "/v1beta" },
];

/** The variable with the key of all of them. */
export const keyVariable = "BENCH_KEY";

/**
 * Runs the work with a model server in a separate process, so that its cost is not measured.
 * @template T
 * @param {(port: number) => T | Promise<T>} work
 */
export async function withModelServer(work) {
  const server = spawn(process.execPath, [fileURLToPath(new URL("model-server.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  try {
    const [line] = await once(createInterface({ input: server.stdout }), "line");
    return await work(Number(line));
  } finally {
    server.stdin.end();
    await ended;
  }
}

/**
 * Writes a config.yaml with one model per wire, whose id is the wire's name.
 * @param {string} home
 * @param {number} port
 * @param {string} model the server's name for it, which determines the reply's length
 */
export function configureModels(home, port, model) {
  const entries = wires.map(
    ({ wire, provider, path }) => `  - id: ${wire}
    provider: ${provider}
    model: ${model}
    baseUrl: http://127.0.0.1:${port}${path}
    apiKey: \${${keyVariable}}
`,
  );
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), `models:\n${entries.join("")}`);
}
