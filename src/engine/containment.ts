/** The walls of a contained command, and the session whose network and temp folder it shares. */
export interface Contained {
  readonly sessionId: string;
  readonly walls: Containment;
}

/**
 * The walls around a command: the policy chooses them, the host builds them. Paths are canonical and may be missing.
 * For each file, the longest path that contains it decides.
 */
export interface Containment {
  /**
   * Folders that the command can write, with everything below. For a missing one, its nearest existing parent counts,
   * except the root. The rest of the disk is read-only.
   */
  readonly writable: readonly string[];
  /**
   * Git folders outside the workspace that git can write. The host drops those that the workspace's git doesn't
   * really use.
   */
  readonly repositories: readonly string[];
  /** Folders that git creates outside the workspace. Those that already exist stay read-only. */
  readonly newFolders: readonly string[];
  /** Files that are removed again if the command creates them. */
  readonly unwanted: readonly string[];
  /** False: git runs no hooks of the repository. */
  readonly runsHooks: boolean;
  /** Writable folders of its own program, and those that the user names. Missing ones are created. */
  readonly caches: readonly string[];
  /** Files written by its redirections. Created before it starts, and writable only in place. */
  readonly outputs: readonly string[];
  /** Places below writable folders that stay read-only, if they exist. */
  readonly kept: readonly string[];
  /** Like `kept`, but missing ones cannot be created either. */
  readonly barred: readonly string[];
  /** Places hidden from the command. */
  readonly hidden: readonly string[];
  /**
   * Places below hidden ones that the command can read, such as its program's credentials. `.ssh` includes the ssh agent.
   * Also applies to other users' homes, which the host hides.
   */
  readonly shown: readonly string[];
  /** `session`: the session's own network, which reaches no other machine. `host`: this machine's network. */
  readonly network: "session" | "host";
  /** The processes that the command can see and signal: its own, or all contained ones of its session. */
  readonly processes: "own" | "session";
}

export const sandboxModes = ["auto", "required", "off"] as const;

/** The user's configuration. */
export interface SandboxOptions {
  /** `auto`: contain commands if possible. `required`: no session opens if that is impossible. */
  readonly mode: (typeof sandboxModes)[number];
  /** `all`: every contained command has this machine's network. */
  readonly network: "proven" | "all";
  /** Further folders that contained commands can write. Canonical. */
  readonly writable: readonly string[];
}

export type SandboxStatus =
  | {
      readonly works: true;
      readonly mechanism: "bubblewrap" | "sandbox-exec";
      /** False: each command has its own network, so a later one cannot reach a dev server. */
      readonly sharesNetwork: boolean;
      /** A gap in this machine's version, as a sentence. */
      readonly weakness?: string;
    }
  /** `why` and `advice` are sentences. */
  | { readonly works: false; readonly why: string; readonly advice: string };

/** Contains commands. No method ever rejects. */
export interface Sandbox {
  /** Probed by running a contained command, on the first call only. */
  status(): Promise<SandboxStatus>;
  /** An estimate without running anything, for the model's context. */
  seemsToWork(): boolean;
  /** A session's own temp folder: canonical, and the `TMPDIR` of its contained commands. Created with the first one. */
  tempOf(sessionId: string): string;
  /** Whether contained background commands of a session may still run, so that its network has servers. */
  hasServers(sessionId: string): boolean;
  /** Ends a session's contained background commands and its network, and removes its temp folder. */
  endSession(sessionId: string): Promise<void>;
}
