import { readFileSync } from "node:fs";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programOf } from "./program.ts";
import { unhandledPromises } from "./promise-handlers.ts";
import { followed, stepsOf } from "./tool-recipe.ts";

/* Whatever needs the compiler, in one file: one program with all additions takes half as long as one for each. */

/** Promises whose contract says that they never reject. */
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

const plantedWork: readonly (readonly [text: string, isFault: boolean])[] = [
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

const workFiles = new Map(
  plantedWork.map(([text], at) => [`src/planted-${at}.ts`, `declare function work(): Promise<number>;\n${text}`]),
);

/** Additions that no file handles yet: by name, the line before each, and its text. */
const planted = {
  "durable.planted": ["src/engine/event.ts", "export type DurableBody =", '| { readonly type: "durable.planted" }'],
  "live.planted": ["src/engine/event.ts", "export type LiveBody =", '| { readonly type: "live.planted" }'],
  plantedField: ["src/engine/message.ts", "export interface Usage {", "readonly plantedField?: number;"],
  plantedSetting: ["src/engine/settings.ts", "export interface SessionSettings {", "readonly plantedSetting?: string;"],
  planted_turn_event: ["src/sdk/types.ts", "export type TurnEvent =", '| { readonly type: "planted_turn_event" }'],
  planted_wish: ["src/sdk/api.ts", "export interface SettingsChange {", "readonly planted_wish?: string;"],
  planted_notification: [
    "src/protocol/droid/notifications.ts",
    "export type Notification =",
    '{ readonly type: "planted_notification" } |',
  ],
} as const;

type Planted = keyof typeof planted;

const event: readonly Planted[] = ["durable.planted", "live.planted"];

/** The files that must decide about these additions. */
const decides: Readonly<Record<string, readonly Planted[]>> = {
  "src/engine/event.ts": event,
  "src/engine/log/history.ts": ["durable.planted"],
  "src/engine/log/forked-records.ts": ["durable.planted"],
  "src/engine/log/repair-log.ts": ["durable.planted"],
  "src/store/records/record-guards.ts": ["durable.planted", "plantedField"],
  "src/store/listing/settings-guards.ts": ["plantedSetting"],
  "src/frontends/exec/stream-json.ts": event,
  "src/frontends/exec/log.ts": event,
  "src/frontends/exec/progress.ts": event,
  "src/frontends/interactive/interactive-notifications.ts": event,
  "src/frontends/stream-jsonrpc/notifications/droid-notifications.ts": event,
  "src/frontends/stream-jsonrpc/attached-session.ts": event,
  "src/frontends/stream-jsonrpc/methods/droid-settings.ts": ["plantedSetting"],
  "src/commands/serve/serve-observer.ts": event,
  "src/commands/exec/run-settings.ts": ["plantedSetting"],
  "src/frontends/acp/view/acp-updates.ts": ["planted_turn_event"],
  "src/frontends/acp/session/session-news.ts": ["planted_turn_event"],
  "src/sdk/turns/turn-end.ts": ["planted_turn_event"],
  "src/sdk/turns/interrupt.ts": ["planted_turn_event"],
  "src/sdk/open.ts": ["planted_wish"],
  "src/sdk/turns/sdk-events.ts": ["planted_notification"],
};

function textsWithPlants(): ReadonlyMap<string, string> {
  const paths = new Set([...Object.keys(decides), ...Object.values(planted).map(([path]) => path), "text-files.d.ts"]);
  const texts = new Map([...paths].map((path) => [path, readFileSync(path, "utf8")]));
  for (const [path, line, addition] of Object.values(planted)) {
    const text = texts.get(path) ?? "";
    expect(text).toContain(line);
    texts.set(path, text.replace(line, `${line}\n${addition}`));
  }
  return texts;
}

const recipe = followed(stepsOf(readFileSync("CONTRIBUTING.md", "utf8")));

/** All of `src`, with everything that is planted below, and the tool of the recipe. */
let program: ts.Program | undefined;
beforeAll(() => {
  program = programOf(new Map([...workFiles, ...textsWithPlants(), ...recipe]));
}, 60_000);
// Other tests run in the same process, and a few hundred megabytes would slow down every collection.
afterAll(() => {
  program = undefined;
});

/** What the compiler reports about a file. */
function faultsIn(path: string): readonly string[] {
  const found = program?.getSemanticDiagnostics(program.getSourceFile(path)) ?? [];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

const lostPromises = (isChecked: (path: string) => boolean) =>
  program === undefined ? [] : unhandledPromises(program, isChecked);

describe("no promise goes without a handler", () => {
  it("finds each planted one, and only those", () => {
    const faults = lostPromises((path) => workFiles.has(path));
    const found = new Set(faults.map((fault) => fault.split(":")[0]));
    expect([...workFiles.keys()].map((path) => found.has(path))).toEqual(plantedWork.map(([, isFault]) => isFault));
  });

  it("holds for all of src, but where a contract says that the promise never rejects", () => {
    const faults = lostPromises((path) => path.startsWith("src/") && !workFiles.has(path));
    const shown = faults.map((fault) => fault.replace(/:\d+/, ""));
    expect([...new Set(shown)].sort()).toEqual(Object.keys(neverReject).sort());
  }, 120_000);
});

it("the compiler names every file that does not decide about a new event, field or setting", () => {
  const named = Object.keys(decides).map((path) => {
    const words = faultsIn(path).join("\n");
    return [path, (Object.keys(planted) as Planted[]).filter((name) => words.includes(name))];
  });
  expect(Object.fromEntries(named)).toEqual(decides);
}, 120_000);

it("a tool made by the recipe of CONTRIBUTING.md compiles", () => {
  const sources = [...recipe.keys()].filter((path) => path.endsWith(".ts"));
  expect(sources).toHaveLength(3);
  expect(sources.flatMap(faultsIn)).toEqual([]);
}, 60_000);
