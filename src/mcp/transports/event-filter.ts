import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { Rest } from "../../async/long-texts.ts";
import { fieldsOf } from "../../text/values.ts";
import { ServerProblem } from "../server-problem.ts";
import { parseJson } from "./paced-json.ts";

const mebibyte = 1024 * 1024;
const mostEventBytes = 16 * mebibyte;
/** The library parses events at once, so it gets only short ones. */
const plainBytes = 64 * 1024;
const mostLarge = 4;
const lineFeed = 0x0a;

/** Large messages by id. The library gets small ones in their place. */
export type LargeMessages = Map<string | number, JSONRPCMessage>;

export interface EventFilter {
  /** What the library gets of these bytes. Rejects with a `ServerProblem` for an event that is too large. */
  push(bytes: Uint8Array): Promise<readonly Buffer[]>;
  /** Whether the server can send the rest of the stream again. */
  readonly isResumable: boolean;
}

/** Passes on the events of a stream, one by one, and parses large ones without blocking. */
export function createEventFilter(large: LargeMessages, rest: Rest): EventFilter {
  let pieces: Buffer[] = [];
  let length = 0;
  let isLineEmpty = true;
  let isResumable = false;

  async function finish(): Promise<Buffer | undefined> {
    const event = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    [pieces, length] = [[], 0];
    isResumable ||= /^id:/m.test(event.toString("latin1", 0, 256)) || /\nid:[^\n]*\r?\n\r?\n$/.test(tailOf(event));
    return event.length <= plainBytes ? event : small(event, large, rest);
  }

  return {
    get isResumable() {
      return isResumable;
    },
    async push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const events: Buffer[] = [];
      let start = 0;
      let lineStart = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, lineStart)) {
        const isEmpty = isLineEmpty && isBlank(bytes, lineStart, end);
        isLineEmpty = true;
        lineStart = end + 1;
        if (!isEmpty) continue;
        keep(bytes.subarray(start, lineStart));
        start = lineStart;
        const event = await finish();
        if (event !== undefined) events.push(event);
        await rest();
      }
      isLineEmpty &&= isBlank(bytes, lineStart, bytes.length);
      if (start < bytes.length) keep(Buffer.from(bytes.subarray(start)));
      return events;
    },
  };

  function keep(piece: Buffer): void {
    pieces.push(piece);
    length += piece.length;
    if (length > mostEventBytes) throw new ServerProblem("The server sent a message of more than 16 MiB.");
  }
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  return to === from || (to === from + 1 && bytes[from] === 0x0d);
}

function tailOf(event: Buffer): string {
  return event.toString("latin1", Math.max(0, event.length - 256));
}

/** A large event with a message in place of its own. Nothing if only an answer may be that large. */
async function small(event: Buffer, large: LargeMessages, rest: Rest): Promise<Buffer | undefined> {
  const [data, others]: [Buffer[], string[]] = [[], []];
  for (let start = 0; start < event.length; ) {
    const found = event.indexOf(lineFeed, start);
    const end = found === -1 ? event.length : found;
    const line = event.subarray(start, event[end - 1] === 0x0d ? end - 1 : end);
    if (line.toString("latin1", 0, 5) === "data:") data.push(line.subarray(line[5] === 0x20 ? 6 : 5));
    else if (line.length > 0 && line.length < 1000) others.push(line.toString("utf8"));
    start = end + 1;
    await rest();
  }
  const whole = Buffer.concat(data.flatMap((line) => [line, Buffer.from("\n")]));
  const message = await parseJson(whole, rest).catch((error: unknown) => {
    if (error instanceof ServerProblem) throw error;
  });
  const { id, method } = fieldsOf(message);
  if (method !== undefined || (typeof id !== "string" && typeof id !== "number")) return undefined;
  large.set(id, message as JSONRPCMessage);
  // Drop answers to unknown requests.
  for (const old of [...large.keys()].slice(0, -mostLarge)) large.delete(old);
  const stand = JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "The answer was lost." } });
  return Buffer.from(`${others.map((line) => `${line}\n`).join("")}data: ${stand}\n\n`);
}
