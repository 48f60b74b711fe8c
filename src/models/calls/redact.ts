/** Shorter values are not secrets, and redacting them would hit ordinary words. */
const minLength = 6;

/** Parts of a key this long could reveal the rest. */
const minPartLength = 12;

/**
 * Redacts secrets in text for people, logs or the model: in any case, spaced out, URL-encoded, as base64 or
 * hexadecimal, and long parts of them.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const words = secrets.flatMap((secret) => [secret ?? "", ...(secret ?? "").split(/[\s:]+/)]);
  const known = [...new Set(words)].filter((word) => word.length >= minLength);
  if (known.length === 0) return (text) => text;
  const forms = [...new Set(known.flatMap(formsOf))];
  const patterns = [...forms, ...known.flatMap(base64Patterns)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(patterns.join("|"), "giu");
  const parts = new Set(known.flatMap(partsOf));
  return (text) => withoutParts(text.replace(pattern, hidden), parts);
}

const hidden = "[hidden]";

/** Patterns for a secret as text, of which any part may be URL-encoded, and in hexadecimal. */
function formsOf(secret: string): readonly string[] {
  const sound = secret.toWellFormed();
  const hex = Buffer.from(sound).toString("hex");
  return [[...sound].map(plainOrEncoded).join("\\s*"), [...hex].join("\\s*")];
}

/** Encoders differ in the characters that they leave alone, such as a slash. */
function plainOrEncoded(char: string): string {
  const bytes = Buffer.from(char).toString("hex").replace(/../g, "%$&");
  return char === "/" ? `(?:\\\\?/|${bytes})` : `(?:${escaped(char)}|${bytes})`;
}

/**
 * A text's base64 depends on its offset modulo 3, so there are three patterns. Each matches the invariant middle and the
 * letters around it, which hold the rest.
 */
function base64Patterns(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from("x".repeat(shift) + secret.toWellFormed()).toString("base64");
    const middle = text.slice(shift === 0 ? 0 : 4).replace(/.{0,3}=*$/, "");
    if (middle.length < minLength) return [];
    const letters = middle.replace(/[+/]/g, (sign) => (sign === "+" ? "[+-]" : "[/_]"));
    return [`[A-Za-z0-9+/_-]{0,${shift === 0 ? 0 : 4}}${letters}[A-Za-z0-9+/_-]{0,4}={0,2}`];
  });
}

/** Every substring of `minPartLength`, in lower case. */
function partsOf(secret: string): readonly string[] {
  const low = secret.toLowerCase();
  return Array.from({ length: Math.max(0, low.length - minPartLength + 1) }, (_, at) =>
    low.slice(at, at + minPartLength),
  );
}

function withoutParts(text: string, parts: ReadonlySet<string>): string {
  const low = text.toLowerCase();
  // Lower-casing can change a text's length, and the offsets would no longer match.
  if (low.length !== text.length) return text;
  let clean = "";
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (parts.has(low.slice(end, end + minPartLength))) end += 1;
    if (end === at) {
      clean += text[at];
      at += 1;
    } else {
      clean += hidden;
      at = end + minPartLength - 1;
    }
  }
  return clean;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** An address without its user, password and query, which can hold secrets. */
export function shownUrl(text: string): string {
  try {
    const { origin, pathname } = new URL(text);
    return `${origin}${pathname === "/" ? "" : pathname}`;
  } catch {
    return "an invalid address";
  }
}
