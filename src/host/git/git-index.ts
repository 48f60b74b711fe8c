const gitlink = 0o160000;
const sparseFolder = 0o040000;
const fixedFields = 40;

/**
 * The paths of the submodules in git's index. `undefined` if the index is not fully understood: damaged, split into two
 * files, or with folders that represent their contents.
 */
export function submodulePaths(index: Buffer, idBytes: number): readonly string[] | undefined {
  return entriesInIndex(index, idBytes, (mode) => mode === gitlink)?.map(({ path }) => path);
}

export interface IndexEntry {
  readonly path: string;
  readonly mode: number;
  /** The id of the stored object, in hexadecimal. */
  readonly id: string;
}

/** The entries with a wanted mode; `undefined` as above. */
export function entriesInIndex(
  index: Buffer,
  idBytes: number,
  isWanted: (mode: number) => boolean,
): readonly IndexEntry[] | undefined {
  try {
    return readEntries(index, idBytes, isWanted);
  } catch {
    return undefined;
  }
}

function readEntries(
  index: Buffer,
  idBytes: number,
  isWanted: (mode: number) => boolean,
): readonly IndexEntry[] | undefined {
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const found: IndexEntry[] = [];
  let at = 12;
  let previous: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const mode = index.readUInt32BE(at + 24);
    const isExtended = (index.readUInt16BE(at + fixedFields + idBytes) & 0x4000) !== 0;
    let nameAt = at + fixedFields + idBytes + (isExtended ? 4 : 2);
    if (mode === sparseFolder) return undefined;
    let kept: Buffer = Buffer.alloc(0);
    if (version === 4) {
      const strip = readOffset(index, nameAt);
      kept = previous.subarray(0, previous.length - strip.value);
      nameAt = strip.next;
    }
    const end = index.indexOf(0, nameAt);
    if (end < 0) return undefined;
    const rest = index.subarray(nameAt, end);
    if (version === 4) previous = Buffer.concat([kept, rest]);
    if (isWanted(mode)) {
      const path = (version === 4 ? previous : rest).toString("utf8");
      found.push({ path, mode, id: index.toString("hex", at + fixedFields, at + fixedFields + idBytes) });
    }
    // Before version 4, entries are padded with 1 to 8 zeros to a multiple of 8 bytes.
    at = version === 4 ? end + 1 : at + (Math.floor((end - at) / 8) + 1) * 8;
  }
  return isSplit(index, at, idBytes) ? undefined : found;
}

/** A number with seven bits per byte, as in version 4. */
function readOffset(index: Buffer, from: number): { readonly value: number; readonly next: number } {
  let at = from;
  let byte = index.readUInt8(at++);
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

/** Extensions follow the entries, each with a name and a length; a checksum ends the file. */
function isSplit(index: Buffer, from: number, idBytes: number): boolean {
  for (let at = from; at + 8 <= index.length - idBytes; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.toString("latin1", at, at + 4) === "link") return true;
  }
  return false;
}
