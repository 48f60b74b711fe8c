import { type ExitCode, exitCodes } from "../frontends/exit-codes.ts";
import type { Frame } from "../rpc/framing.ts";
import type { Call } from "./calls.ts";
import type { Conversation } from "./conversation.ts";
import { parseLine } from "./line.ts";
import { runCommand } from "./run-command.ts";
import type { Screen } from "./screen.ts";

/** Exit codes by the reason why an answer ended. */
const codeOfReason: Readonly<Record<string, ExitCode>> = {
  completed: exitCodes.success,
  timeout: exitCodes.limit,
  limit: exitCodes.limit,
  denied: exitCodes.denied,
};

export const nobodyRunsTools = "This client cannot run tools: it reads messages from a pipe.";

/** A program as the user: each line is sent after the answer to the previous one. */
export function createPipeInput(lines: AsyncIterable<Frame>, conversation: Conversation, screen: Screen) {
  const frames = lines[Symbol.asyncIterator]();
  let ahead: Promise<IteratorResult<Frame, unknown>> | undefined;
  let code: ExitCode = exitCodes.success;
  let calls: Promise<void> = Promise.resolve();

  /** The first failure decides the exit code. */
  const failed = (because: ExitCode): void => {
    if (code === exitCodes.success) code = because;
  };

  function peek(): Promise<IteratorResult<Frame, unknown>> {
    ahead ??= frames.next();
    return ahead;
  }

  async function take(): Promise<IteratorResult<Frame, unknown>> {
    for (;;) {
      const next = peek();
      const frame = await next;
      // It was a tool call's result, already sent.
      if (ahead !== next) continue;
      ahead = undefined;
      return frame;
    }
  }

  async function answer(call: Call): Promise<void> {
    const next = peek();
    const { done, value } = await next;
    const line = done !== true && value.type === "line" ? parseLine(value.text) : undefined;
    if (call.over.aborted) return;
    if (line?.kind !== "command" || (line.name !== "result" && line.name !== "error"))
      return conversation.answer(call.toolCallId, nobodyRunsTools, true);
    // The line reader may have taken it already.
    if (ahead !== next) return;
    ahead = undefined;
    await runCommand(line, conversation, screen);
  }

  /** Resolves with false to stop. */
  async function act(frame: Frame): Promise<boolean> {
    if (frame.type === "too_long") {
      screen.tell(`A line of ${frame.bytes} bytes is too long and was not sent.`);
      failed(exitCodes.failed);
      return true;
    }
    if (frame.isMalformed === true) {
      screen.tell("A line is not valid UTF-8 and was not sent.");
      failed(exitCodes.failed);
      return true;
    }
    const line = parseLine(frame.text);
    if (line.kind === "message") failed(codeOfReason[await conversation.send(line.text)] ?? exitCodes.failed);
    else if (line.kind === "unknown") {
      screen.tell(`Unknown command /${line.word}. /help lists the commands.`);
      failed(exitCodes.failed);
    } else if (line.name === "quit") return false;
    else if (!(await runCommand(line, conversation, screen))) failed(exitCodes.failed);
    return true;
  }

  return {
    /** Sends all lines, then stops the session. Resolves with the exit code. */
    async run(): Promise<ExitCode> {
      for (;;) {
        const frame = await take();
        if (frame.done === true) break;
        if (!(await act(frame.value))) return code;
      }
      await conversation.settled();
      await conversation.stop();
      return code;
    },
    /** Answered with the next line, if that is a result. */
    call(call: Call) {
      calls = calls.then(() => answer(call)).catch((error) => screen.tell(String(error)));
    },
    /** The session itself failed. */
    fault(reason: string) {
      failed(codeOfReason[reason] ?? exitCodes.failed);
    },
  };
}
