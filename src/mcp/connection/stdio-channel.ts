import type { Contained } from "../../engine/containment.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import type { ServerProgram, StartServerProgram } from "../../engine/servers/server-program.ts";
import { errorMessage } from "../../text/values.ts";
import { ServerProblem, shownLine, withoutValues, withStop } from "../server-problem.ts";
import { createStdioTransport } from "../transports/stdio.ts";
import type { Channel } from "./link.ts";

type StdioEntry = ServerEntry & { readonly kind: "stdio" };

export interface StdioParts {
  readonly start: StartServerProgram;
  readonly cwd: string;
  readonly contained?: Contained;
}

/** Starts a server's program. Rejects with a `ServerProblem`. */
export async function openStdioChannel(entry: StdioEntry, { start, cwd, contained }: StdioParts): Promise<Channel> {
  const { command, args, env } = entry;
  let program: ServerProgram;
  try {
    program = await start({ command, args, env, cwd, ...(contained === undefined ? {} : { contained }) });
  } catch (error) {
    throw new ServerProblem(withStop(shownLine(errorMessage(error))), { isLasting: true });
  }
  let fail: (problem: ServerProblem) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const transport = createStdioTransport(program, fail);
  const ended = (end: Awaited<ServerProgram["exited"]>): void => {
    const last = lastLine(withoutValues(program.errorTail(), Object.values(env)));
    fail(new ServerProblem(withStop(`The server's program ${endWords(end)}${last === "" ? "" : `: ${last}`}`)));
  };
  program.exited.then(ended).catch(fail);
  return {
    transport,
    failed,
    async close() {
      await transport.close();
      await program.end();
    },
  };
}

function endWords({ code, signal }: { readonly code: number | null; readonly signal: string | null }): string {
  return signal === null ? `exited with code ${code ?? 0}` : `was ended by ${signal}`;
}

/** The last line that says something, instead of a stack trace. */
function lastLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const telling = lines.filter((line) => line !== "" && !/^(?:at |[}\])^~]|Node\.js v)/.test(line));
  const error = telling.findLast((line) => /error/i.test(line));
  return shownLine(error ?? telling.at(-1) ?? "", 200);
}
