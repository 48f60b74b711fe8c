import type { Readable } from "node:stream";
import type { PdfPart } from "../../engine/pdf-part.ts";
import { textStart } from "../../text/text-cut.ts";
import { fieldsOf, parsedJson } from "../../text/values.ts";

/** Messages can quote the file. */
const mostMessage = 300;
const notUnderstood: PdfPart = { type: "failed", encrypted: false, message: "its reader sent malformed output" };

/**
 * The parts that the reader writes, one JSON line each. Ends with its output, at a malformed line, or beyond `mostBytes` after
 * reporting that.
 */
export async function* partsOf(output: Readable, mostBytes: number, onTooLong: () => void): AsyncGenerator<PdfPart> {
  let waiting: Buffer[] = [];
  let room = mostBytes;
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      const taken = chunk.subarray(0, room);
      let from = 0;
      for (let feed = taken.indexOf(0x0a); feed !== -1; feed = taken.indexOf(0x0a, from)) {
        const part = parsePart(Buffer.concat([...waiting, taken.subarray(from, feed)]).toString());
        yield part ?? notUnderstood;
        if (part === undefined) return;
        waiting = [];
        from = feed + 1;
      }
      if (chunk.length > room) return onTooLong();
      room -= chunk.length;
      waiting.push(taken.subarray(from));
    }
  } catch {
    // Reading fails only when we close the pipe.
  }
}

function parsePart(line: string): PdfPart | undefined {
  const { type, pages, text, lacksTables, encrypted, message } = fieldsOf(parsedJson(line));
  if (type === "opened" && typeof pages === "number") return { type, pages };
  if (type === "page" && typeof text === "string") return { type, text, lacksTables: lacksTables === true };
  if (type === "failed")
    return { type, encrypted: encrypted === true, message: textStart(String(message), mostMessage) };
  return undefined;
}
