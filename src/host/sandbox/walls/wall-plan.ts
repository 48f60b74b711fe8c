/** One mount. Bubblewrap creates them in order: a folder before its content. */
export interface Mount {
  readonly path: string;
  /** `anchor`: a writable folder with a protected place below it. Mounts can't be renamed, so the place can't be moved. */
  readonly as: "write" | "anchor" | "read" | "empty folder" | "empty file";
}

export interface Walls {
  readonly mounts: readonly Mount[];
  /** Folders to create before mounting, parents first. */
  readonly missing: readonly string[];
  /** Those of them that must stay empty. */
  readonly missingKept: readonly string[];
  /** Kept places that are links, which a mount cannot protect, and where they lead. */
  readonly links: ReadonlyMap<string, string>;
}
