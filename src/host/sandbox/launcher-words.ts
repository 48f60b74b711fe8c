/** A place to hide, such as a socket, can vanish between planning and mounting. Then planning is repeated. */
export const launcherTries = 3;

/** The message for a command that its launcher could not start, whose output is only the launcher's. */
export function couldNotContain(output: string): string {
  const words = output.trim().split("\n").at(-1)?.trim() ?? "";
  return `The command could not be contained, so it was not run${words === "" ? "." : `: ${words}`}`;
}

/** Signals that end a program by an error or by force. Programs can also exit with 128 or more, such as 130. */
const signals: Readonly<Record<number, string>> = {
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  31: "SIGSYS",
};

/** For a command ended by a signal, the launcher's exit code is 128 plus the signal's number. */
export function signalOf(code: number): string | undefined {
  return code > 128 ? signals[code - 128] : undefined;
}
