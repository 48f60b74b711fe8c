import { byteOfCharacter } from "../../text/shown-name.ts";

/** Whether a path has bytes that are not UTF-8, which arguments and variables cannot carry. */
export function isBeyondText(path: string): boolean {
  return /[\u{10fe00}-\u{10feff}]/u.test(path);
}

/** The path for system calls, with placeholder characters replaced by their bytes. */
export function onDisk(path: string): string | Buffer {
  if (!isBeyondText(path)) return path;
  return Buffer.concat(
    Array.from(path, (character) => {
      const byte = byteOfCharacter(character);
      return byte === undefined ? Buffer.from(character) : Buffer.of(byte);
    }),
  );
}

/** Names the path in a system error as we write it. The system's own words lose bytes that are not UTF-8. */
export function aboutPath(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !isBeyondText(path)) return error;
  error.message = error.message.replaceAll(onDisk(path).toString(), () => path);
  return Object.assign(error, { path });
}
