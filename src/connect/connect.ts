import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../async/promises.ts";
import { type ExitCode, exitCodes } from "../frontends/exit-codes.ts";
import { type Io, onStop } from "../frontends/front-end.ts";
import { type ByteSource, createStdioTransport } from "../rpc/stdio.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { errorMessage } from "../text/values.ts";
import type { Call } from "./calls.ts";
import { createConversation, type StartParams } from "./conversation.ts";
import { createLink } from "./link.ts";
import { createPipeInput } from "./pipe-input.ts";
import { createScreen } from "./screen.ts";
import { socketTo, type Target } from "./socket.ts";
import { createTerminalInput, type Terminal } from "./terminal-input.ts";
import { runToolCommand } from "./tool-command.ts";

const goodbyeMs = 1_000;

export interface ConnectOptions {
  readonly target: Target;
  readonly start: StartParams;
  readonly resume?: { readonly sessionId: string; readonly afterSeq?: number };
  readonly isJson: boolean;
  readonly toolCommand?: string;
  /** Lines from a program, or a person at a terminal. */
  readonly input: { readonly lines: ByteSource } | { readonly terminal: Terminal };
  readonly pauseMs?: (attempt: number) => number;
}

interface Input {
  run(): Promise<ExitCode>;
  call?(call: Call): void;
  fault?(reason: string): void;
  close(): void;
}

/** `tinman connect`: connects a person or a program to a server's `/ws`. */
export async function runConnect(io: Io, options: ConnectOptions): Promise<number> {
  const { toolCommand } = options;
  const isPerson = "terminal" in options.input;
  let input: Input | undefined;
  let tools: Promise<void> = Promise.resolve();
  const leaving = new AbortController();
  const screen = createScreen(io, {
    isJson: options.isJson,
    flow: { pause: () => link.pause(), resume: () => link.resume() },
  });

  async function runTool(command: string, { over, messageId: _, ...call }: Call): Promise<void> {
    if (over.aborted) return;
    const ended = AbortSignal.any([over, leaving.signal]);
    const { result, isError } = await runToolCommand(command, call, ended);
    if (!ended.aborted) await conversation.answer(call.toolCallId, result, isError);
  }

  const conversation = createConversation({
    link: () => link,
    screen,
    start: options.start,
    events: {
      call(call) {
        if (toolCommand === undefined) return input?.call?.(call);
        // One at a time: they may not be safe to run in parallel.
        tools = tools.then(() => runTool(toolCommand, call)).catch((error) => screen.tell(String(error)));
      },
      fault: (reason) => input?.fault?.(reason),
    },
  });
  const link = createLink({
    open: socketTo(options.target),
    frame: screen.frame,
    notification: conversation.notification,
    tell: screen.tell,
    restore: conversation.restore,
    ...(options.pauseMs && { pauseMs: options.pauseMs }),
  });

  async function openInput(): Promise<Input> {
    if ("terminal" in options.input) return createTerminalInput(options.input.terminal, conversation, screen);
    const transport = createStdioTransport(options.input.lines, io.stdout);
    return { ...createPipeInput(transport.incoming, conversation, screen), close: transport.close };
  }

  async function work(): Promise<ExitCode> {
    await link.open();
    input = await openInput();
    if (options.resume === undefined) await conversation.start();
    else await conversation.resume(options.resume.sessionId, options.resume.afterSeq);
    return input.run();
  }

  const tellFailure = async (error: unknown): Promise<ExitCode> => {
    await screen.drained();
    await io.stderr.write(`tinman: ${terminalLine(errorMessage(error))}\n`);
    return exitCodes.failed;
  };

  const stopped = deferred<ExitCode>();
  const stopListening = onStop(io, stopped.resolve);
  const ends = [work().catch(tellFailure), link.failed.catch(tellFailure), stopped.promise];
  try {
    const code = await Promise.race(ends);
    leaving.abort();
    input?.close();
    const { sessionId, lastSeq } = conversation;
    if (isPerson && sessionId !== undefined)
      screen.tell(
        `The session is kept. Resume it with --resume ${sessionId}${lastSeq === undefined ? "" : ` --after ${lastSeq}`}`,
      );
    // After a signal, a script doesn't read the rest, so the session is stopped.
    else if (code >= exitCodes.hangup && link.isUp)
      await Promise.race([conversation.stop().catch(() => undefined), sleep(goodbyeMs)]);
    link.close();
    // Their commands were ended; undelivered results are dropped.
    await Promise.race([tools, sleep(goodbyeMs)]);
    await screen.drained();
    return code;
  } finally {
    stopListening();
  }
}
