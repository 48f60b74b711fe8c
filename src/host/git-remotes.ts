const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/**
 * The first address of every remote in a repository's settings, by name and in their order, read as git reads them but for
 * files that they include. `undefined` when git would not read them either, or when nobody writes settings like these.
 */
export function remoteAddresses(config: string): ReadonlyMap<string, string> | undefined {
  const text = config.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n");
  if (/[^\P{Cc}\n\t]|\uFFFD/u.test(text)) return undefined;
  const addresses = new Map<string, string>();
  let remote: string | undefined;
  for (let at = 0; at < text.length; ) {
    const skipped = /(?:[ \t\n]|[;#][^\n]*)+/y;
    skipped.lastIndex = at;
    if (skipped.test(text)) {
      at = skipped.lastIndex;
      continue;
    }
    const header = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
    header.lastIndex = at;
    const section = header.exec(text);
    if (section !== null) {
      remote = remoteOf(section[1] ?? "", section[2]);
      at = header.lastIndex;
      continue;
    }
    const name = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=|(?=\n)|$)/y;
    name.lastIndex = at;
    const [, key] = name.exec(text) ?? [];
    const found = key === undefined ? undefined : valueAt(text, name.lastIndex);
    if (found === undefined) return undefined;
    const isAddress = key?.toLowerCase() === "url" && found.value !== "";
    if (isAddress && remote !== undefined && !addresses.has(remote)) addresses.set(remote, found.value);
    at = found.end;
  }
  return addresses;
}

/** The remote that a section is about, if it is about one. */
function remoteOf(section: string, quoted: string | undefined): string | undefined {
  if (quoted !== undefined) {
    return section.toLowerCase() === "remote" ? quoted.replace(/\\(.)/g, "$1") : undefined;
  }
  return /^remote\.(.+)$/.exec(section.toLowerCase())?.[1];
}

/** What stands behind a name, up to the end of the line or of those that continue it. */
function valueAt(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  /** Blanks at the end count only in quotes. */
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
