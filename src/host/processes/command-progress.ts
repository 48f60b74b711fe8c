import { textEnd, withoutTrailing } from "../../text/text-cut.ts";
import type { CommandOutput } from "./command-output.ts";

const intervalMs = 200;
const shownLines = 2;
const shownCharacters = 400;

/** The last lines as on a screen: of a line that is redrawn, only its current text. */
export function lastLines(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => withoutTrailing(line, "\r"))
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .filter((line) => line.trim() !== "");
  const shown = lines.slice(-shownLines).join("\n");
  return shown.length <= shownCharacters ? shown : textEnd(shown, shownCharacters);
}

export interface Progress {
  /** Call on new output. Cheap: the text is built only when it is shown. */
  changed(): void;
  stop(): void;
}

/** Shows the end of the output on a change, at most five times a second. */
export function createProgress(output: CommandOutput, show: (tail: string) => void): Progress {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let pending = false;
  let shown = "";

  function showNow(): void {
    pending = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (pending) showNow();
    }, intervalMs);
    timer.unref();
    // A character has at most four bytes. Leave room for the line before a long one.
    const text = lastLines(output.latest(shownCharacters * 4));
    if (text === shown || text === "") return;
    shown = text;
    try {
      show(text);
    } catch {
      // A listener's error must not end the command.
    }
  }

  return {
    changed() {
      if (stopped) return;
      pending = true;
      if (timer === undefined) showNow();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
