import { expect, test } from "vitest";
import type { EngineEvent, LiveBody } from "../../src/engine/event.ts";
import type { ServerState } from "../../src/engine/servers/server-state.ts";
import { createLogger } from "../../src/frontends/exec/log.ts";
import { Progress } from "../../src/frontends/exec/progress.ts";
import { StreamJsonTranslator } from "../../src/frontends/exec/stream-json.ts";
import type { Output } from "../../src/frontends/front-end.ts";

const of = (body: LiveBody): EngineEvent => ({ ...body, at: 7, sessionId: "s" });
const state = (name: string, status: ServerState["status"], error?: string): ServerState => ({
  name,
  status,
  source: "user",
  kind: "stdio",
  ...(error === undefined ? {} : { error }),
});
const changed = (one: ServerState, ...others: readonly ServerState[]): EngineEvent =>
  of({ type: "servers.changed", servers: [...others, one], changed: one.name });

const signIn = {
  type: "sign-in.required",
  server: "linear",
  url: "https://a.example/?secret",
  message: "",
  state: "s",
} as const;
const events = [
  changed(state("files", "connecting")),
  changed(state("files", "failed", "It is gone.")),
  changed(state("files", "connecting")),
  changed(state("files", "failed", "It is gone.")),
  // Another one has changed.
  changed(state("web", "connected"), state("files", "failed", "It is gone.")),
  changed(state("files", "connected")),
  changed(state("files", "failed", "It is gone.")),
  of(signIn),
  of({ type: "sign-in.ended", server: "linear", outcome: "success", message: "" }),
];
const words = [
  "The MCP server files failed: It is gone.",
  "The MCP server files failed: It is gone.",
  "The MCP server linear needs a sign-in: tinman mcp login linear",
];

function recorder(): Output & { readonly texts: string[] } {
  const texts: string[] = [];
  const write = async (text: string): Promise<void> => void texts.push(text);
  return { texts, isTerminal: true, columns: 80, write, gone: new AbortController().signal };
}

test("stderr names servers that failed, each failure once, and how to sign in", async () => {
  const output = recorder();
  const log = createLogger(output, "warn");
  for (const event of events) await log.event(event);
  expect(output.texts).toEqual(words.map((line) => `tinman: ${line}\n`));
  const quiet = recorder();
  for (const event of events) await createLogger(quiet, "error").event(event);
  expect(quiet.texts).toEqual([]);
});

test("stream-json has the same as notices", () => {
  const translator = new StreamJsonTranslator([]);
  const lines = events.flatMap((event) => translator.translate(event));
  expect(lines).toEqual(
    words.map((message) => ({ type: "notice", level: "warning", message, timestamp: 7, session_id: "s" })),
  );
});

test("progress shows the servers that the first model call waits for", async () => {
  const output = recorder();
  const progress = new Progress(output);
  const shown = async (event: EngineEvent): Promise<string> => {
    progress.show(event);
    const from = output.texts.length;
    while (output.texts.length === from) await new Promise((resolve) => setTimeout(resolve, 10));
    return output.texts.at(-1)?.replace(/^\r\S*\S (.*) \d+s$/, "$1") ?? "";
  };
  const [files, web] = [state("files", "connecting"), state("web", "connecting")];
  progress.show({ type: "turn.started", turnId: "t", model: "m", at: 1, sessionId: "s", seq: 1 });
  expect(await shown(changed(web, files))).toContain("connecting to files, web");
  expect(await shown(changed(state("web", "connected"), state("files", "failed")))).toContain("thinking");
  progress.show(of({ type: "model.called", messageId: "m", model: "m" }));
  expect(await shown(changed(web))).toContain("thinking");
  await progress.stop();
});
