export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** Changes whenever the content may have changed. */
  readonly version: string;
  /** Why the file is not writable, to follow its name: "is read-only (mode 0444)". */
  readonly notWritable?: string;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly linkTarget?: string;
}

/**
 * The machine's files. Methods reject with Node's errors (`ENOENT: …`), which tools turn into results. `list`, `read`,
 * `write`, `move` and `remove` need canonical paths, and reject (`ESTALE`) if part of one has become a link.
 */
export interface Files {
  /** The absolute path with links resolved. Keeps parts that don't exist. */
  canonical(path: string, base: string): Promise<string>;
  /** Follows links. `undefined` if the path does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** At most `maxBytes` from offset `from`. */
  read(path: string, range: { readonly from?: number; readonly maxBytes: number }): Promise<Uint8Array>;
  /**
   * Creates missing parents. A new file appears atomically; an existing one keeps its identity, and a crash leaves its
   * new text elsewhere. Rejects with a message if not writable, with `ABORT_ERR` on an early abort. Returns the new
   * version.
   */
  write(
    path: string,
    text: string,
    options?: {
      /** Version of a missing file. */
      readonly mode?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<string>;
  /**
   * Renames a regular file to an unused path, keeping its attributes. Creates missing parents. Rejects with `EXDEV` or
   * `EBUSY` if the system cannot, and on abort like `write`. Returns the new version.
   */
  move(from: string, to: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** Removes an existing regular file. Rejects with `ABORT_ERR` if `signal` aborts before that. */
  remove(path: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
}
