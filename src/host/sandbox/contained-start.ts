/** How a contained command is started. */
export interface ContainedStart {
  /** The programs and arguments before the command's shell. */
  readonly launcher: readonly string[];
  /** What the launcher reads on descriptor 4. */
  readonly options: Uint8Array;
  /** Variables that the command gets in addition. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it has a PID namespace of its own, `below`: in the session's. */
  readonly ownProcesses: false | "here" | "below";
  /** Mount points that we created, parents first. They are removed if we are killed. */
  readonly heldFolders: readonly string[];
  /** Call once everything of the command has ended. Resolves to what should not have happened, in sentences. */
  finish(): Promise<readonly string[]>;
}
