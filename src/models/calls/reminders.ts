/**
 * Only the engine can write reminders: they carry the session's mark, and the tag in other text is quoted. Calls that
 * repeat quoted text get the tag back, so that files containing it can be edited.
 */

/** Reminders repeat texts of others (prompts, file names, AGENTS.md), so what looks like a tag in them is quoted too. */
export function reminderText(text: string, mark: string): string {
  return `<system-reminder id="${mark}">\n${quoteReminders(text)}\n</system-reminder>`;
}

/** Each pass adds one `quoted-`, so that text quoted before comes back unchanged. */
export function quoteReminders(text: string): string {
  return text.replace(/<(\s{0,9}\/?\s{0,9})((?:quoted-){0,99}system-reminder)/gi, "<$1quoted-$2");
}

/** In a call's arguments as JSON, where `<` can be escaped. */
export function unquoteReminders(json: string): string {
  return json.replace(
    /(<|\\u003c)((?:\s|\\[nrt]){0,9}\/?(?:\s|\\[nrt]){0,9})quoted-((?:quoted-){0,99}system-reminder)/gi,
    "$1$2$3",
  );
}

const unfinishedTag = /(?:<|\\u003c)(?:\s|\\[nrt]?){0,9}\/?(?:\s|\\[nrt]?){0,9}[a-z-]{0,720}$|\\(?:u(?:0(?:03?)?)?)?$/i;

/** `unquoteReminders` for arguments that stream in: text that may begin a tag is held back until the tag is complete. */
export class StreamedUnquoting {
  private held = "";

  next(piece: string): string {
    const text = this.held + piece;
    const at = text.search(unfinishedTag);
    this.held = at === -1 ? "" : text.slice(at);
    return unquoteReminders(at === -1 ? text : text.slice(0, at));
  }

  rest(): string {
    const text = unquoteReminders(this.held);
    this.held = "";
    return text;
  }
}
