import { terminalText } from "../text/terminal-text.ts";

/** Depends on the next piece: half a surrogate pair, half a line end, a joiner. */
const undecided = /(?:\r|\u200d?[\ud800-\udbff]|\u200d)$/;
const contextUnits = 8;

/** `terminalText` for streamed text, wherever it is cut. */
export function createSafeStream() {
  let context = "";
  let held = "";

  function show(text: string): string {
    const shown = terminalText(context + text).slice(terminalText(context).length);
    const tail = (context + text).slice(-contextUnits);
    context = /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail;
    return shown;
  }

  return {
    push(piece: string): string {
      const text = held + piece;
      held = undecided.exec(text)?.[0] ?? "";
      return show(text.slice(0, text.length - held.length));
    },
    /** Returns the held text. */
    end(): string {
      const rest = show(held);
      held = "";
      context = "";
      return rest;
    },
  };
}
