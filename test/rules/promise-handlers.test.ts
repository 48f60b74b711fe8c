import { describe, expect, it } from "vitest";
import { programOf, unhandledPromises } from "./promise-handlers.ts";

/** Promises that by contract never reject. */
const neverReject: Readonly<Record<string, string>> = {
  "src/access/access-control.ts void hold.session.ended.then(giveBack)": "a session's end only resolves",
  "src/commands/serve/serve.ts void access.revoke(who).then((failures) => {": "failures are what it resolves with",
  "src/engine/engine.ts void session.ended.then(() => this.open.delete(session))": "a session's end only resolves",
  "src/engine/log/journal.ts void this.flush()": "each entry has its own promise, which is rejected instead",
  "src/engine/session/session-pool.ts void closeUnlessBusy()": "its parts are caught",
  "src/engine/session/session-pool.ts void hold.session.ended.then(giveBack)": "a session's end only resolves",
  "src/engine/session/session-pool.ts void session.ended.then(() => {": "a session's end only resolves",
  "src/engine/session/session-pool.ts void wait()": "a session's work only resolves",
  "src/engine/calls/tool-progress.ts void context.emit(body)": "live events are not stored",
  "src/host/pdf/pdf-reader.ts void exit.then(onGone)": "an exit only resolves",
  "src/host/pdf/mutex.ts void work.then(() => {": "a turn only resolves",
  "src/rpc/line-writer.ts void writeWaiting()": "it catches what the sink does",
  "src/commands/wires/acp-backends.ts void options.log.warn(String(error))": "an Output only resolves",
  "src/commands/wires/acp.ts void log.warn(words)": "an Output only resolves",
  "src/frontends/acp/backend-link.ts void session.ended.then((end) => {": "a session's end only resolves",
  'src/frontends/acp/requests/questions.ts void asking.client.update(asking.sessionId, { sessionUpdate: "tool_call_update", toolCallId, status })':
    "updates only resolve",
  "src/frontends/acp/session/session-news.ts void told.then(() => {": "updates only resolve",
  "src/connect/screen.ts void writeWaiting()": "an Output only resolves",
  "src/frontends/exec/progress.ts void this.output.write(`\\r\\x1b[2K${frames[this.frame]} ${doing} ${seconds}s`)":
    "an Output only resolves",
  "src/server/log.ts void output.write(`${printed(line)}\\n`).finally(() => {": "an Output only resolves",
  "src/frontends/stream-jsonrpc/connection.ts void this.context.options.log.warn(words)": "an Output only resolves",
  "src/frontends/stream-jsonrpc/methods/open-session.ts void options.log.event(event)": "an Output only resolves",
  "src/sdk/interactions.ts void ask<PermissionAnswer>(asked, handler, (answer, isGiven) => {": "it catches the handler",
  "src/sdk/interactions.ts void ask<QuestionAnswer>(asked, questions.length === 0 ? undefined : handler, (answer) => {":
    "it catches the handler",
  "src/sdk/node/child-connection.ts void transport.drained().then(() => stdin.end())": "draining only resolves",
  "src/sdk/connection/peer.ts void held.then(readOn.open)": "a hold only resolves",
  "src/sdk/turns/prompts.ts void this.standStill()": "a hold only resolves",
  "src/sdk/connection/socket-connection.ts void room.then(() => {": "room only resolves",
  "src/store/lease.ts void giveBack(path, retryMs)": "it catches what goes wrong",
};

const planted: readonly (readonly [text: string, isFault: boolean])[] = [
  ["void work();", true],
  ["void work().then(() => 1);", true],
  ["void work().finally(() => 1);", true],
  ["export const lost = (): void => void Promise.all([work(), work()]);", true],
  ["setTimeout(async () => { await work(); }, 1);", true],
  ["export const options: { onGone(): void } = { onGone: () => work() };", true],
  ["work().catch(() => undefined);", false],
  ["void work().catch(() => undefined).finally(() => 1);", false],
  ["void work().then(() => 1, () => 2);", false],
  ["setTimeout(() => void work().catch(() => undefined), 1);", false],
  ["export const held = work(); await held;", false],
  ["export const numbers = new Map<string, number>(); void numbers.set('a', 1);", false],
];

describe("every promise has a handler", () => {
  it("finds each planted one, and only those", () => {
    const files = new Map(
      planted.map(([text], at) => [`src/planted-${at}.ts`, `declare function work(): Promise<number>;\n${text}`]),
    );
    const faults = unhandledPromises(programOf(files), (path) => files.has(path));
    const found = new Set(faults.map((fault) => fault.split(":")[0]));
    expect([...files.keys()].map((path) => found.has(path))).toEqual(planted.map(([, isFault]) => isFault));
  });

  it("holds for all of src, except promises that by contract never reject", () => {
    const faults = unhandledPromises(programOf(), (path) => path.startsWith("src/"));
    const shown = faults.map((fault) => fault.replace(/:\d+/, ""));
    expect([...new Set(shown)].sort()).toEqual(Object.keys(neverReject).sort());
  }, 120_000);
});
