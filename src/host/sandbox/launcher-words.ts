/** A place that must be hidden, such as a socket, may vanish between the plan and its mount. Then there is a new plan. */
export const launcherTries = 3;

/** What to say about a command that its launcher could not start, whose output is all that the launcher said. */
export function couldNotContain(output: string): string {
  const words = output.trim().split("\n").at(-1)?.trim() ?? "";
  return `The command could not be contained, so it was not run${words === "" ? "." : `: ${words}`}`;
}

/** Signals that end a program by an error or by force. A program also chooses 128 and more by itself, such as 130. */
const signals: Readonly<Record<number, string>> = {
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  31: "SIGSYS",
};

/** The launcher's exit code is 128 and the signal's number for a command that a signal ended. */
export function signalOf(code: number): string | undefined {
  return code > 128 ? signals[code - 128] : undefined;
}
