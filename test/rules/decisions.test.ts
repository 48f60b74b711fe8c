import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, it } from "vitest";
import { programOf } from "./promise-handlers.ts";

/** Additions that lack a decision, each by name and the line before it. */
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

/** Who must decide about what. */
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

it("the compiler names every file that does not decide about a new event, field or setting", () => {
  const program = programOf(textsWithPlants());
  const named = Object.keys(decides).map((path) => {
    const found = program.getSemanticDiagnostics(program.getSourceFile(path));
    const words = found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n");
    return [path, (Object.keys(planted) as Planted[]).filter((name) => words.includes(name))];
  });
  expect(Object.fromEntries(named)).toEqual(decides);
}, 120_000);
