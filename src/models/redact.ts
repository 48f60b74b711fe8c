/** Shorter texts are no secrets, and would take ordinary words out of a sentence. */
const shortest = 6;

/** So much of a key is as good as the key to somebody who looks for the rest. */
const shortestPart = 12;

/**
 * Takes secrets out of a text that people, logs or the model may see: in any case, with spaces in between, as in a URL, in
 * base64 or hexadecimal, and long parts of them.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const words = secrets.flatMap((secret) => [secret ?? "", ...(secret ?? "").split(/[\s:]+/)]);
  const known = [...new Set(words)].filter((word) => word.length >= shortest);
  if (known.length === 0) return (text) => text;
  const forms = [...new Set(known.flatMap(formsOf))].map((form) => [...form].map(escaped).join("\\s*"));
  const patterns = [...forms, ...known.flatMap(base64Patterns)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(patterns.join("|"), "giu");
  const parts = new Set(known.flatMap(partsOf));
  return (text) => withoutParts(text.replace(pattern, hidden), parts);
}

const hidden = "[hidden]";

function formsOf(secret: string): readonly string[] {
  const sound = secret.toWellFormed();
  return [sound, encodeURIComponent(sound), Buffer.from(sound).toString("hex")];
}

/**
 * In base64 a text looks otherwise wherever something stands before it; its middle is the same for one of three places. The
 * letters around that hold the rest of it.
 */
function base64Patterns(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from("x".repeat(shift) + secret.toWellFormed()).toString("base64");
    const middle = text.slice(shift === 0 ? 0 : 4).replace(/.{0,3}=*$/, "");
    if (middle.length < shortest) return [];
    const letters = middle.replace(/[+/]/g, (sign) => (sign === "+" ? "[+-]" : "[/_]"));
    return [`[A-Za-z0-9+/_-]{0,${shift === 0 ? 0 : 4}}${letters}[A-Za-z0-9+/_-]{0,4}={0,2}`];
  });
}

/** Every part of a secret that is long enough to matter, in lower case. */
function partsOf(secret: string): readonly string[] {
  const low = secret.toLowerCase();
  return Array.from({ length: Math.max(0, low.length - shortestPart + 1) }, (_, at) =>
    low.slice(at, at + shortestPart),
  );
}

function withoutParts(text: string, parts: ReadonlySet<string>): string {
  const low = text.toLowerCase();
  // Some letters have more than one in lower case; places would no longer agree.
  if (low.length !== text.length) return text;
  let clean = "";
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (parts.has(low.slice(end, end + shortestPart))) end += 1;
    if (end === at) {
      clean += text[at];
      at += 1;
    } else {
      clean += hidden;
      at = end + shortestPart - 1;
    }
  }
  return clean;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** An address without what may be secret in it. */
export function shownUrl(text: string): string {
  try {
    const { origin, pathname } = new URL(text);
    return `${origin}${pathname === "/" ? "" : pathname}`;
  } catch {
    return "an address that is none";
  }
}
