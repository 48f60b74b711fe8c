/** The walls of a contained command, and the session whose network and temp folder it shares. */
export interface Contained {
  readonly sessionId: string;
  readonly walls: Containment;
}

/**
 * The walls around a command. The policy chooses them, and the host builds them. Paths are canonical, and may be missing
 * on this machine. The longest path that covers a file decides about it.
 */
export interface Containment {
  /**
   * Folders that the command can write, including everything below. A missing one means its nearest existing parent,
   * except the root. The rest of the disk is read-only.
   */
  readonly writable: readonly string[];
  /**
   * Git folders that git can write, besides those in the workspace. Others are left out unless git in the workspace
   * really uses them.
   */
  readonly repositories: readonly string[];
  /** Folders that git creates outside the workspace. Existing ones stay closed. */
  readonly newFolders: readonly string[];
  /** Files that it must not leave behind: removed if it creates them. */
  readonly unwanted: readonly string[];
  /** False: git runs no hooks of the repository. */
  readonly runsHooks: boolean;
  /** Writable folders of its own program, and those that the user names. Missing ones are created. */
  readonly caches: readonly string[];
  /** Files written by its redirections. Created before it starts, and writable only in place. */
  readonly outputs: readonly string[];
  /** Places below writable folders that stay read-only, if they exist. */
  readonly kept: readonly string[];
  /** The same, and a missing one cannot be created. */
  readonly barred: readonly string[];
  /** Places hidden from the command. */
  readonly hidden: readonly string[];
  /**
   * Places below hidden ones that it can read, such as its own program's credentials. With `.ssh`, also the ssh agent. The
   * host hides the homes of other users, and shows these there too.
   */
  readonly shown: readonly string[];
  /** `session`: the session's own network, without a way out. `host`: this machine's network. */
  readonly network: "session" | "host";
  /** Whether it sees and can signal only its own processes, or all contained ones of its session. */
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
      /** What this machine's version cannot do, as a sentence. */
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
