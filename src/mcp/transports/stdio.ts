import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createPace } from "../../async/pace.ts";
import { settlesWithin } from "../../async/promises.ts";
import type { ServerProgram } from "../../engine/servers/server-program.ts";
import { isRecord } from "../../text/values.ts";
import { ServerProblem } from "../server-problem.ts";
import { parseJson } from "./paced-json.ts";

export interface StdioLimits {
  readonly lineBytes: number;
  /** Output that is not a message, since the last message. */
  readonly garbageBytes: number;
  /** Text that the program has not taken yet. */
  readonly waitingCharacters: number;
}

const mebibyte = 1024 * 1024;
const defaults: StdioLimits = { lineBytes: 16 * mebibyte, garbageBytes: mebibyte, waitingCharacters: 32 * mebibyte };
const lineFeed = 0x0a;
const exitMs = 1000;

/** JSON-RPC messages, one per line, over a program's standard input and output. `fail` is called at most once. */
export function createStdioTransport(
  program: ServerProgram,
  fail: (problem: ServerProblem) => void,
  limits: Partial<StdioLimits> = {},
): Transport {
  const { lineBytes, garbageBytes, waitingCharacters } = { ...defaults, ...limits };
  let waiting = 0;
  let isClosed = false;

  const stop = (problem: ServerProblem): void => {
    if (isClosed) return;
    fail(problem);
    transport.close().catch(() => undefined);
  };

  async function readMessages(): Promise<void> {
    const pace = createPace();
    let garbage = 0;
    const take = async (line: Buffer): Promise<void> => {
      const message = await messageIn(line, () => pace.rest());
      if (message === undefined) garbage += line.length + 1;
      else garbage = 0;
      if (garbage > garbageBytes) {
        throw new ServerProblem("The server writes text to its standard output that is not MCP.");
      }
      if (message !== undefined && !isClosed) transport.onmessage?.(message);
      await pace.rest();
    };
    let pieces: Buffer[] = [];
    let length = 0;
    for await (const chunk of program.output) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        const last = bytes.subarray(start, end);
        if (length + last.length > lineBytes) throw tooLong(lineBytes);
        await take(pieces.length === 0 ? last : Buffer.concat([...pieces, last]));
        if (isClosed) return;
        [pieces, length, start] = [[], 0, end + 1];
      }
      if (start === bytes.length) continue;
      pieces.push(bytes.subarray(start));
      length += bytes.length - start;
      if (length > lineBytes) throw tooLong(lineBytes);
    }
  }

  const transport: Transport = {
    async start() {
      readMessages().catch((error: unknown) => {
        if (error instanceof ServerProblem) stop(error);
      });
    },
    async send(message) {
      if (isClosed) throw new ServerProblem("The connection is closed.");
      const line = `${JSON.stringify(message)}\n`;
      if (waiting > waitingCharacters) {
        stop(new ServerProblem("The server does not read its standard input."));
        return;
      }
      waiting += line.length;
      try {
        await program.write(line);
      } catch {
        // Usually it has ended, and its exit says more.
        await settlesWithin(exitMs, program.exited);
        stop(new ServerProblem("The server closed its standard input."));
      } finally {
        waiting -= line.length;
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      transport.onclose?.();
    },
  };
  return transport;
}

function tooLong(bytes: number): ServerProblem {
  return new ServerProblem(`The server sent a message of more than ${Math.floor(bytes / mebibyte)} MiB.`);
}

/** `undefined` for a line that is not a JSON object or list. */
async function messageIn(line: Buffer, rest: () => Promise<void> | undefined): Promise<JSONRPCMessage | undefined> {
  if (!/^\s*\{/.test(line.toString("latin1", 0, 64))) return undefined;
  try {
    const value = await parseJson(line, rest);
    return isRecord(value) ? (value as unknown as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
