import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../async/promises.ts";
import { type ExitCode, exitCodes } from "../frontends/exit-codes.ts";
import { errorMessage } from "../text/values.ts";
import type { Conversation } from "./conversation.ts";
import { parseLine } from "./line.ts";
import { runCommand } from "./run-command.ts";
import type { Screen } from "./screen.ts";

const goodbyeMs = 1_000;

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

interface TerminalInput {
  run(): Promise<ExitCode>;
  close(): void;
}

/** A person at a terminal: a prompt where input is accepted, and all output above it. */
export async function createTerminalInput(
  terminal: Terminal,
  conversation: Conversation,
  screen: Screen,
): Promise<TerminalInput> {
  const { clearScreenDown, createInterface, cursorTo } = await import("node:readline");
  const reader = createInterface({ ...terminal, terminal: true, prompt: "> ", historySize: 1_000 });
  let isShown = false;
  let isClosed = false;
  /** Ctrl-C was pressed, and the answer that it cancels has not ended. */
  let isCancelling = false;
  const { promise: left, resolve: leave } = deferred<ExitCode>();

  const prompt = {
    hide() {
      if (!isShown) return;
      isShown = false;
      cursorTo(terminal.output, 0);
      clearScreenDown(terminal.output);
    },
    show() {
      const isBusy = conversation.isRunning() && conversation.openCalls().length === 0;
      if (isShown || isClosed || isBusy) return;
      isShown = true;
      reader.prompt(true);
    },
  };

  async function act(typed: string): Promise<void> {
    if (typed.trim() === "") return;
    const line = parseLine(typed);
    if (line.kind === "message") {
      isCancelling = false;
      await conversation.send(line.text);
    } else if (line.kind === "unknown") screen.tell(`Unknown command /${line.word}. /help lists the commands.`);
    else if (line.name === "quit") leave(exitCodes.success);
    else await runCommand(line, conversation, screen);
  }

  reader.on("line", (typed) => {
    isShown = false;
    act(typed)
      .catch((error) => screen.tell(errorMessage(error)))
      .finally(() => {
        if (!conversation.isRunning()) isCancelling = false;
        prompt.show();
      });
  });
  reader.on("SIGINT", () => {
    if (!conversation.isRunning() || isCancelling) return leave(exitCodes.interrupted);
    isCancelling = true;
    screen.tell("Cancelling the answer. Press Ctrl-C again to leave.");
    conversation.cancel().catch((error) => screen.tell(errorMessage(error)));
  });
  reader.on("close", () => {
    isClosed = true;
    isShown = false;
    // Ctrl-D ends the input like the end of a pipe. Don't wait for a connection then.
    Promise.race([conversation.stop(), sleep(goodbyeMs)]).then(
      () => leave(exitCodes.success),
      () => leave(exitCodes.failed),
    );
  });

  return {
    run() {
      screen.usePrompt(prompt);
      prompt.show();
      return left;
    },
    close() {
      screen.usePrompt(undefined);
      reader.removeAllListeners("close");
      isClosed = true;
      reader.close();
    },
  };
}
