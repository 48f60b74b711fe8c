import { textEnd, withoutTrailing } from "../../text/text-cut.ts";
import type { CommandOutput } from "./command-output.ts";

const intervalMs = 200;
const shownLines = 2;
const shownCharacters = 400;

/** The last lines that a person would see on a screen: of a line drawn over and over, what stands there now. */
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
  /** Something came. Cheap: the text is made only when it is shown. */
  changed(): void;
  stop(): void;
}

/** Shows the end of the output at once when it changes, and then at most five times a second. */
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
    // A character is four bytes at most, and a long line must not hide the one before it entirely.
    const text = lastLines(output.latest(shownCharacters * 4));
    if (text === shown || text === "") return;
    shown = text;
    try {
      show(text);
    } catch {
      // A listener's fault must not end the command.
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
