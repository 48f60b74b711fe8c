/** One git setting, as written. */
export interface Setting {
  /** In lower case, in old files with the part after the dot: `core`, `remote.origin`. */
  readonly section: string;
  /** The quoted part after the section. Case-sensitive. */
  readonly sub?: string;
  /** In lower case. */
  readonly key: string;
  /** Absent without `=`, which means true. */
  readonly value?: string;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/** The settings in one of git's files, in order. `undefined` if git could not read it. */
export function parseSettings(config: string): readonly Setting[] | undefined {
  const text = config.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n");
  const settings: Setting[] = [];
  let around: Pick<Setting, "section" | "sub"> = { section: "" };
  for (let at = 0; at < text.length; ) {
    const skipped = /(?:[ \t\n]|[;#][^\n]*)+/y;
    skipped.lastIndex = at;
    if (skipped.test(text)) {
      at = skipped.lastIndex;
      continue;
    }
    const header = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
    header.lastIndex = at;
    const [found, section = "", sub] = header.exec(text) ?? [];
    if (found !== undefined) {
      around = { section: section.toLowerCase(), ...(sub === undefined ? {} : { sub: sub.replace(/\\(.)/g, "$1") }) };
      at = header.lastIndex;
      continue;
    }
    const name = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n)|$)/y;
    name.lastIndex = at;
    const [, key, sign] = name.exec(text) ?? [];
    const value = key === undefined ? undefined : valueAt(text, name.lastIndex);
    if (key === undefined || value === undefined) return undefined;
    settings.push({ ...around, key: key.toLowerCase(), ...(sign === "=" ? { value: value.value } : {}) });
    at = value.end;
  }
  return settings;
}

/** The value after a name, up to the end of the line and its continuations. */
function valueAt(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  /** Trailing blanks count only in quotes. */
  let kept = 0;
  let isQuoted = false;
  for (let at = from; ; at += 1) {
    const char = text[at];
    if (char === undefined || char === "\n") {
      return isQuoted ? undefined : { value: value.slice(0, kept), end: at };
    }
    if (!isQuoted && (char === ";" || char === "#")) {
      const end = text.indexOf("\n", at);
      return { value: value.slice(0, kept), end: end < 0 ? text.length : end };
    }
    const isBlank = char === " " || char === "\t";
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") {
      at += 1;
      const escaped = text[at] ?? "";
      if (escaped !== "\n" && !Object.hasOwn(escapes, escaped)) return undefined;
      value += escapes[escaped] ?? "";
      if (escaped !== "\n") kept = value.length;
    } else if (isQuoted || !isBlank || value !== "") value += char;
    if (char !== "\\" && (isQuoted || !isBlank)) kept = value.length;
  }
}
