/** One mount. Bubblewrap creates them in order: a folder before its content. */
export interface Mount {
  readonly path: string;
  /** `anchor`: a writable folder that holds a protected place. As a mount it cannot be renamed, so the place cannot move. */
  readonly as: "write" | "anchor" | "read" | "empty folder" | "empty file";
}

export interface Walls {
  readonly mounts: readonly Mount[];
  /** Folders to create first, parents first, because a mount needs a place. */
  readonly missing: readonly string[];
  /** The ones among them that must stay empty. */
  readonly missingKept: readonly string[];
  /** Kept places that are links, which a mount cannot protect, and where they lead. */
  readonly links: ReadonlyMap<string, string>;
}
