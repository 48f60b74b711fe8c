export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** Changes whenever the content may have. */
  readonly version: string;
  /** Why the user cannot write to this file, to follow its name: "is read-only (mode 0444)". */
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
 * The machine's files. Methods reject with Node's own errors (`ENOENT: …`), which tools turn into results. `list`, `read`,
 * `write`, `move` and `remove` take canonical paths, and reject (`ESTALE`) when a part of one has become a link meanwhile.
 */
export interface Files {
  /** Absolute, with symbolic links resolved; the part that does not exist yet is kept as it is. */
  canonical(path: string, base: string): Promise<string>;
  /** Follows links. `undefined` when there is nothing. */
  stat(path: string): Promise<FileStat | undefined>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** At most `maxBytes` from offset `from`. */
  read(path: string, range: { readonly from?: number; readonly maxBytes: number }): Promise<Uint8Array>;
  /**
   * Makes missing parents and a new file, whole or not at all. A file that is there stays the same file, with its owner, mode,
   * attributes and hard links: its new text is stored elsewhere first, and stays there if the process dies halfway. Rejects
   * with words when the file is not writable, and with `ABORT_ERR` when `signal` is aborted before anything is changed.
   * Returns the new version.
   */
  write(
    path: string,
    text: string,
    options?: {
      /** Of a file that is not there yet. */
      readonly mode?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<string>;
  /**
   * Gives a regular file another name, under which there is nothing, and keeps all else of it. Makes missing parents. Rejects
   * with `EXDEV` or `EBUSY` where the system cannot, and at an abort as `write` does. Returns the new version.
   */
  move(from: string, to: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** A regular file, which must be there. Rejects with `ABORT_ERR` when `signal` is aborted before it is removed. */
  remove(path: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
}
