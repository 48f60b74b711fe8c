import { anchorSigns, visible } from "./html-elements.ts";
import type { MarkdownWriter } from "./markdown-writer.ts";

/** Text, code spans and links. `addressOf`: a link's target, or `undefined`. */
export function createInlineText(out: () => MarkdownWriter, addressOf: (href: string) => string | undefined) {
  let code: string | undefined;
  /** A link's target as written, until the link has text. */
  let waitingHref: string | undefined;
  let inAnchor = false;

  function takeHref(): void {
    if (waitingHref === undefined) return;
    const href = addressOf(waitingHref);
    waitingHref = undefined;
    out().link(href === undefined ? undefined : { href });
  }

  function endCode(): void {
    if (code !== undefined && code !== "") {
      takeHref();
      out().code(visible(code));
    }
    code = undefined;
  }

  return {
    /** Whether there was visible content. */
    text(text: string): boolean {
      if (code !== undefined) {
        code += text;
        return false;
      }
      const bare = text.trim();
      if (inAnchor && anchorSigns.has(bare)) return false;
      if (bare !== "") takeHref();
      out().text(visible(text));
      return bare !== "";
    },
    openCode(): void {
      code ??= "";
    },
    endCode,
    /** Handles content that can follow a code span. */
    between(action: () => void): void {
      const goesOn = code !== undefined;
      endCode();
      action();
      if (goesOn) code = "";
    },
    /** Without an address, it ends the previous link. */
    link(href: string | undefined): void {
      waitingHref = href?.trim();
      inAnchor = waitingHref?.startsWith("#") === true;
      out().link(undefined);
    },
    /** Characters of a code span that is still open. */
    get length() {
      return code?.length ?? 0;
    },
  };
}
