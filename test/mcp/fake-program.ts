import type { ServerProgram, StartServerProgram } from "../../src/engine/servers/server-program.ts";
import { fieldsOf } from "../../src/text/values.ts";

export interface FakePrograms {
  readonly start: StartServerProgram;
  /** How often a program was started. */
  starts: number;
  /** What programs answer from now on. A method without an answer is never answered. */
  answers: Record<string, (params: Readonly<Record<string, unknown>>) => unknown>;
  /** Methods of all messages, in order. */
  readonly heard: string[];
  /** Ends the latest program. */
  crash(code?: number): void;
  /** Sends a message from the latest program. */
  send(message: Record<string, unknown>): void;
}

/** Programs in memory that speak MCP. */
export function fakePrograms(tools: readonly Record<string, unknown>[] = []): FakePrograms {
  const heard: string[] = [];
  let crash = (_: number): void => undefined;
  let write = (_: string): void => undefined;
  const own: FakePrograms = {
    heard,
    starts: 0,
    answers: {
      initialize: ({ protocolVersion }) => ({
        protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "fake", version: "1" },
      }),
      "tools/list": () => ({ tools }),
    },
    crash: (code = 1) => crash(code),
    send: (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    async start() {
      own.starts += 1;
      const lines: string[] = [];
      let wake = (): void => undefined;
      let isOver = false;
      const exited = new Promise<Awaited<ServerProgram["exited"]>>((resolve) => {
        crash = (code) => {
          isOver = true;
          wake();
          resolve({ code, signal: null });
        };
      });
      const end = crash;
      write = (line) => {
        lines.push(line);
        wake();
      };
      const say = write;
      return {
        output: (async function* () {
          while (!isOver) {
            const line = lines.shift();
            if (line !== undefined) yield Buffer.from(line);
            else {
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
            }
          }
        })(),
        async write(text) {
          const { id, method, params } = fieldsOf(JSON.parse(text));
          heard.push(String(method));
          const reply = own.answers[String(method)];
          if (id === undefined || reply === undefined) return;
          say(`${JSON.stringify({ jsonrpc: "2.0", id, result: await reply(fieldsOf(params)) })}\n`);
        },
        errorTail: () => "",
        exited,
        end: async () => end(0),
      };
    },
  };
  return own;
}
