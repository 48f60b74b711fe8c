import { terminalText } from "../text/terminal-text.ts";

/** What the next piece decides about: half a pair, a line end's first half, what joins two signs. */
const undecided = /(?:\r|\u200d?[\ud800-\udbff]|\u200d)$/;
const contextUnits = 8;

/** Pieces of a text for a terminal. The same as `terminalText` of the whole, however it is cut. */
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
    /** What was still held back. */
    end(): string {
      const rest = show(held);
      held = "";
      context = "";
      return rest;
    },
  };
}
