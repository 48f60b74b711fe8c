import { expect, test } from "vitest";
import { createObserver } from "../../../src/commands/serve/serve-observer.ts";
import { createMetrics } from "../../../src/server/metrics.ts";

test("notices of all sessions are logged at their level", () => {
  const lines: unknown[] = [];
  const at = (level: string) => (event: string, fields?: object) => void lines.push({ level, event, ...fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const observe = createObserver(createMetrics({ version: "0" }).meter, log);
  for (const level of ["warning", "info"] as const) {
    observe({ type: "notice", level, text: "Look out.", at: 1, sessionId: "s" });
  }
  expect(lines).toEqual([
    { level: "warn", event: "session.notice", sessionId: "s", message: "Look out." },
    { level: "info", event: "session.notice", sessionId: "s", message: "Look out." },
  ]);
});
