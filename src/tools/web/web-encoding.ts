/**
 * Text in the web's encodings, by their labels. Node's decoder confuses two of them with narrower ones of the same
 * name, so those are decoded here.
 */

const unknown = "\ufffd";

/** The encoding of a label: `latin1` and `ascii`, for example, both mean windows-1252. Undefined for unknown labels. */
export function encodingOfLabel(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** Takes the result of `encodingOfLabel`. Invalid bytes become U+FFFD, and a byte order mark is dropped. */
export function decodeText(bytes: Uint8Array, encoding: string): string {
  if (encoding === "windows-1252") return decodeWestern(bytes);
  if (encoding === "euc-kr") return decodeKorean(bytes);
  return new TextDecoder(encoding).decode(bytes);
}

/* --------------------------------------------------------------- windows-1252 */

/** Bytes 0x80 to 0x9F, the only difference from Latin-1, which some Node versions use instead. */
const western = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function decodeWestern(bytes: Uint8Array): string {
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin.replace(/[\u0080-\u009f]/g, (control) => western.charAt(control.charCodeAt(0) - 0x80));
}

/* --------------------------------------------------------------------- euc-kr */

/** Placeholder for text inserted later. Any ASCII character works that decoders pass through. */
const gap = 0x1a;

/**
 * On the web, EUC-KR includes all of windows-949, but Node knows only the first standard with 2350 of the 11172
 * syllables. So Node decodes that part, with gaps for the rest.
 */
function decodeKorean(bytes: Uint8Array): string {
  const kept = Buffer.alloc(bytes.length);
  const fillings: string[] = [];
  let size = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0;
    const trail = bytes[at + 1] ?? 0;
    const isPair = lead > 0x80 && lead < 0xff;
    const filling = isPair ? addedPair(lead, trail) : undefined;
    if (lead < 0x80 && lead !== gap) {
      kept[size++] = lead;
    } else if (filling === undefined && isFirstStandard(lead, trail)) {
      kept[size++] = lead;
      kept[size++] = trail;
      at += 1;
    } else {
      kept[size++] = gap;
      fillings.push(lead === gap ? String.fromCharCode(gap) : (filling ?? unknown));
      // ASCII after an unpaired lead byte counts on its own: it could be a bracket that ends something.
      if (isPair && (filling !== undefined || trail >= 0x80)) at += 1;
    }
  }
  const parts = new TextDecoder("euc-kr").decode(kept.subarray(0, size)).split(String.fromCharCode(gap));
  return parts.map((part, nth) => part + (fillings[nth] ?? "")).join("");
}

function isFirstStandard(lead: number, trail: number): boolean {
  return lead >= 0xa1 && lead <= 0xfe && trail >= 0xa1 && trail <= 0xfe;
}

/** Trail bytes of the added pairs for a lead byte; from 0xA1 on, the first standard has its own. */
const [trails, trailsBesideStandard] = [178, 84];

/** Additions to the first standard: two signs, and the other syllables in Unicode order. */
function addedPair(lead: number, trail: number): string | undefined {
  if (lead === 0xa2 && trail === 0xe6) return "€";
  if (lead === 0xa2 && trail === 0xe7) return "®";
  const column = columnOf(trail);
  if (lead > 0xc6 || column === undefined) return undefined;
  addedSyllables ??= findAddedSyllables();
  if (lead < 0xa1) return addedSyllables[(lead - 0x81) * trails + column];
  const before = (0xa1 - 0x81) * trails + (lead - 0xa1) * trailsBesideStandard;
  return column < trailsBesideStandard ? addedSyllables[before + column] : undefined;
}

function columnOf(trail: number): number | undefined {
  if (trail >= 0x41 && trail <= 0x5a) return trail - 0x41;
  if (trail >= 0x61 && trail <= 0x7a) return trail - 0x61 + 26;
  return trail >= 0x81 && trail <= 0xfe ? trail - 0x81 + 52 : undefined;
}

let addedSyllables: readonly string[] | undefined;

/** All syllables except those of the first standard, its pairs from B0A1 to C8FE. */
function findAddedSyllables(): readonly string[] {
  const pairs: number[] = [];
  for (let lead = 0xb0; lead <= 0xc8; lead += 1)
    for (let trail = 0xa1; trail <= 0xfe; trail += 1) pairs.push(lead, trail);
  const standard = new Set(new TextDecoder("euc-kr").decode(Uint8Array.from(pairs)));
  const all = Array.from({ length: 11_172 }, (_, nth) => String.fromCharCode(0xac00 + nth));
  return all.filter((syllable) => !standard.has(syllable));
}
