import { expect, test } from "vitest";
import { createObserver } from "../../../src/commands/serve/serve-observer.ts";
import { createMetrics } from "../../../src/server/metrics.ts";

test("changes of servers are logged, without the addresses for signing in", () => {
  const lines: unknown[] = [];
  const at = (level: string) => (event: string, fields?: object) => void lines.push({ level, event, ...fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const observe = createObserver(createMetrics({ version: "0" }).meter, log);
  const common = { at: 1, sessionId: "s" };
  const server = { name: "linear", source: "user", kind: "http" } as const;
  observe({ type: "servers.changed", servers: [{ ...server, status: "connected" }], changed: "linear", ...common });
  const failed = { ...server, status: "failed", error: "It is gone." } as const;
  observe({ type: "servers.changed", servers: [failed], changed: "linear", ...common });
  observe({ type: "servers.changed", servers: [], changed: "linear", ...common });
  const signIn = { server: "linear", url: "https://a.example/?secret", message: "m", state: "secret" };
  observe({ type: "sign-in.required", ...signIn, ...common });
  observe({ type: "sign-in.ended", server: "linear", outcome: "cancelled", message: "m", ...common });
  const of = { sessionId: "s", server: "linear" };
  expect(lines).toEqual([
    { level: "info", event: "mcp.changed", ...of, status: "connected" },
    { level: "warn", event: "mcp.failed", ...of, error: "It is gone." },
    { level: "info", event: "mcp.changed", ...of, status: "removed" },
    { level: "warn", event: "mcp.sign-in.required", ...of },
    { level: "info", event: "mcp.sign-in.ended", ...of, outcome: "cancelled" },
  ]);
});

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
