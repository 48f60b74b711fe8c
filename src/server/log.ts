import type { Output } from "../frontends/front-end.ts";
import { textStart } from "../text/text-cut.ts";

export const logLevels = ["off", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Fields besides the event. Never message contents, never a token. */
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

type Say = (event: string, fields?: LogFields) => void;

/** Further lines are counted instead of queued. */
const mostWaiting = 10_000;
const longestText = 1_000;

export type Log = ReturnType<typeof createLog>;

/** One JSON object per line. */
export function createLog(output: Output, level: LogLevel, now: () => number = Date.now) {
  let waiting = 0;
  let dropped = 0;

  function write(line: object): void {
    waiting += 1;
    void output.write(`${printed(line)}\n`).finally(() => {
      waiting -= 1;
      if (waiting > 0 || dropped === 0) return;
      const lines = dropped;
      dropped = 0;
      write({ time: new Date(now()).toISOString(), level: "warn", event: "log.dropped", lines });
    });
  }

  const say = (needed: LogLevel): Say => {
    if (logLevels.indexOf(level) < logLevels.indexOf(needed)) return () => {};
    return (event, fields) => {
      if (waiting >= mostWaiting) dropped += 1;
      else write({ time: new Date(now()).toISOString(), level: needed, event, ...fields });
    };
  };
  return { error: say("error"), warn: say("warn"), info: say("info"), debug: say("debug") };
}

/** Untrusted text is cut, and escaped where a terminal would interpret it. */
function printed(line: object): string {
  const text = JSON.stringify(line, (_, value: unknown) =>
    typeof value === "string" && value.length > longestText ? `${textStart(value, longestText)}…` : value,
  );
  return text.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
