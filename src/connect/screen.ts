import type { Io, Output } from "../frontends/front-end.ts";
import { createGate } from "../rpc/gate.ts";
import { terminalJson, terminalLine } from "../text/terminal-text.ts";
import { createSafeStream } from "./safe-stream.ts";

/** The line that the user is typing while output arrives. */
export interface Prompt {
  hide(): void;
  /** Has an effect only where input is accepted. */
  show(): void;
}

/** Limit for a reader that has stopped; one that is merely slow loses nothing. */
const maxWaiting = 64 * 1024 * 1024;

export interface Flow {
  pause(): void;
  resume(): void;
}

export type Screen = ReturnType<typeof createScreen>;

/** Output: answers to stdout, the rest to stderr. */
export function createScreen(io: Io, { isJson, flow }: { readonly isJson: boolean; readonly flow: Flow }) {
  const stdout = createWriter(io.stdout, flow);
  const safe = io.stdout.isTerminal ? createSafeStream() : undefined;
  const isShared = io.stdout.isTerminal && io.stderr.isTerminal;
  let notes: Promise<void> = Promise.resolve();
  let prompt: Prompt | undefined;
  /** The last line of an answer has no line end yet. */
  let isInLine = false;

  function tell(words: string): void {
    prompt?.hide();
    const before = isShared && isInLine ? "\n" : "";
    if (isShared) isInLine = false;
    notes = io.stderr.write(`${before}[${terminalLine(words)}]\n`);
    prompt?.show();
  }

  function print(text: string): void {
    if (text === "") return;
    stdout.write(text);
    isInLine = !text.endsWith("\n");
  }

  function endLine(): void {
    print(safe?.end() ?? "");
    if (isInLine) print("\n");
  }

  return {
    answer(text: string) {
      if (isJson || text === "") return;
      prompt?.hide();
      print(safe?.push(text) ?? text);
    },
    endAnswer() {
      endLine();
      prompt?.show();
    },
    /**
     * A tool call came between two pieces of an answer: a terminal starts a new line, a pipe gets the text unchanged.
     */
    breakAnswer() {
      if (io.stdout.isTerminal) endLine();
    },
    /** Writes one line of our own. */
    tell,
    /** Writes one line about something that the server sent, unless frames are printed. */
    show(words: string) {
      if (!isJson) tell(words);
    },
    frame(text: string) {
      if (!isJson) return;
      prompt?.hide();
      const line = oneLine(text);
      if (line !== undefined) stdout.write(`${io.stdout.isTerminal ? terminalJson(line) : line}\n`);
      prompt?.show();
    },
    usePrompt(given: Prompt | undefined) {
      prompt?.hide();
      prompt = given;
    },
    async drained(): Promise<void> {
      await stdout.drained();
      await notes;
    },
  };
}

function oneLine(json: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** One write at a time; text that arrives during a write goes out in the next one. */
function createWriter(output: Output, flow: Flow) {
  const allWritten = createGate();
  let waiting = "";
  let isWriting = false;
  let isPaused = false;
  let last: Promise<void> = Promise.resolve();

  async function writeWaiting(): Promise<void> {
    isWriting = true;
    while (waiting !== "") {
      const batch = waiting;
      waiting = "";
      await output.write(batch);
      if (isPaused && waiting.length < maxWaiting) {
        isPaused = false;
        flow.resume();
      }
    }
    isWriting = false;
    allWritten.open();
  }

  return {
    write(text: string): void {
      // A terminal is written at once, because the prompt is drawn right after.
      if (output.isTerminal) {
        last = output.write(text);
        return;
      }
      waiting += text;
      if (!isWriting) void writeWaiting();
      else if (waiting.length > maxWaiting && !isPaused) {
        isPaused = true;
        flow.pause();
      }
    },
    drained: (): Promise<void> => (isWriting ? allWritten.wait() : last),
  };
}
