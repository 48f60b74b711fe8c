/** What a contained command needs: its walls, and the session whose network and temp folder it shares. */
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
   * Folders that the command can write, with everything below them. A missing one stands for the nearest folder above it
   * that exists, but not for the root. The rest of the disk is read-only.
   */
  readonly writable: readonly string[];
  /** Folders of its own program that it can write as well. A missing one is created. */
  readonly caches: readonly string[];
  /** Files that its redirections write. They are created before it starts, and can only be written in place. */
  readonly outputs: readonly string[];
  /** Places below writable folders that stay read-only, if they exist. */
  readonly kept: readonly string[];
  /** The same, and a missing one cannot be created. */
  readonly barred: readonly string[];
  /** Places that the command does not see. */
  readonly hidden: readonly string[];
  /** Places below hidden ones that it can read, such as its own program's credentials. With `.ssh`, also the ssh agent. */
  readonly shown: readonly string[];
  /** `session`: a network of the session's own, without a way out. `host`: this machine's network. */
  readonly network: "session" | "host";
  /** Whether it sees, and can signal, only its own processes, or all contained ones of its session. */
  readonly processes: "own" | "session";
}

export const sandboxModes = ["auto", "required", "off"] as const;

/** What the user configures. */
export interface SandboxOptions {
  /** `auto`: commands are contained where that works. `required`: no session opens where it does not work. */
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
      /** False: each command has a network of its own, so a later command cannot reach a dev server. */
      readonly sharesNetwork: boolean;
    }
  /** `why` and `advice` are sentences. */
  | { readonly works: false; readonly why: string; readonly advice: string };

/** Contains commands. No method ever rejects. */
export interface Sandbox {
  /** Probed by running a contained command, on the first call only. */
  status(): Promise<SandboxStatus>;
  /** A guess without running anything, for what the model is told. */
  seemsToWork(): boolean;
  /** A session's own temp folder: canonical, and the `TMPDIR` of its contained commands. Created with the first one. */
  tempOf(sessionId: string): string;
  /** Whether contained background commands of a session may still run, so that its network has servers. */
  hasServers(sessionId: string): boolean;
  /** Ends a session's contained background commands and its network, and removes its temp folder. */
  endSession(sessionId: string): Promise<void>;
}
