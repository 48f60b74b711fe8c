import type { Readable } from "node:stream";
import { nameOfBytes, shownName } from "../../text/shown-name.ts";

/*
 * Names can contain line feeds, so splitting ripgrep's output at them would let a name forge other paths. It searches
 * `././` instead: no name is `.`, so this appears only where a path begins.
 */

export const searchedRoot = "././";
/** Paths end with a NUL, which none contains. The `:` or `-` after it is kept. */
export const separatorFlags = ["--field-match-separator=\\x00:", "--field-context-separator=\\x00-"] as const;

const nul = 0x00;
const lineFeed = 0x0a;

export type Found =
  | {
      readonly type: "line";
      /** Relative, without `./`. */
      readonly path: string;
      /** The text after the path. */
      readonly rest: string;
    }
  | { readonly type: "separator" };

export type Reader = (stream: Readable) => AsyncIterable<Found>;

export function shownLine({ path, rest }: Extract<Found, { type: "line" }>): string {
  return `./${shownName(path)}${rest}`;
}

function pathOf(bytes: Buffer): string {
  return nameOfBytes(bytes.subarray(searchedRoot.length));
}

/** Splits a stream with `next`, which returns the items at an index and their end, or `undefined` if it needs more bytes. */
async function* cut(
  stream: Readable,
  next: (bytes: Buffer, from: number) => { readonly found: readonly Found[]; readonly end: number } | undefined,
  last: (bytes: Buffer) => readonly Found[],
): AsyncGenerator<Found> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let part = next(bytes, from); part !== undefined; part = next(bytes, from)) {
      yield* part.found;
      from = part.end;
    }
    rest = bytes.subarray(from);
  }
  yield* last(rest);
}

/** Paths, each terminated by a NUL. */
export function readPaths(stream: Readable): AsyncIterable<Found> {
  return cut(
    stream,
    (bytes, from) => {
      const end = bytes.indexOf(nul, from);
      if (end === -1) return undefined;
      return { found: [{ type: "line", path: pathOf(bytes.subarray(from, end)), rest: "" }], end: end + 1 };
    },
    () => [],
  );
}

/** Lines of files, and ripgrep's separators. */
export function readContent(stream: Readable): AsyncIterable<Found> {
  return cut(
    stream,
    (bytes, from) => {
      const pathEnd = bytes.indexOf(nul, from);
      const end = pathEnd === -1 ? -1 : bytes.indexOf(lineFeed, pathEnd);
      if (end === -1) return undefined;
      const start = bytes.lastIndexOf(searchedRoot, pathEnd);
      const path = pathOf(bytes.subarray(start, pathEnd));
      const rest = bytes
        .toString("utf8", pathEnd + 1, end)
        .replace("\0", "")
        .replace(/\r$/, "");
      return { found: [...remarks(bytes.subarray(from, start)), { type: "line", path, rest }], end: end + 1 };
    },
    remarks,
  );
}

const binaryRemark =
  /^\.\/\.\/(?<path>.*?)(?<rest>: (?:binary file matches|WARNING: stopped searching binary file after match) \(found .{1,9} byte around offset \d+\))\r?$/gms;

function remarks(bytes: Buffer): readonly Found[] {
  if (bytes.length === 0) return [];
  const text = nameOfBytes(bytes);
  const found: Found[] = Array.from(text.matchAll(binaryRemark), ({ groups: { path = "", rest = "" } = {} }) => ({
    type: "line",
    path,
    rest,
  }));
  return /^--\r?\n$/m.test(text) ? [...found, { type: "separator" }] : found;
}
