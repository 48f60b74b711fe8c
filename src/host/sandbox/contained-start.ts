/** How a contained command is started. */
export interface ContainedStart {
  /** The programs and arguments before the command's shell. */
  readonly launcher: readonly string[];
  /** The launcher's input on descriptor 4. */
  readonly options: Uint8Array;
  /** Additional variables for the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it has its own PID namespace; `below`: inside the session's. */
  readonly ownProcesses: false | "here" | "below";
  /** Mount points, parents first. They are removed if we are killed. */
  readonly heldFolders: readonly string[];
  /** Call once all processes of the command have ended. Resolves to violations, as sentences. */
  finish(): Promise<readonly string[]>;
}
