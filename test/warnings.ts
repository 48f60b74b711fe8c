/** Warnings of this process and its children since the last call. */
const seen: string[] = [];
const isWatched = Symbol.for("tinman.test.warnings");

/** Once per worker, which runs many files. */
export function watchProcess(): void {
  const once = process as unknown as Record<symbol, boolean>;
  if (once[isWatched]) return;
  once[isWatched] = true;
  process.on("warning", ({ stack, name, message }) => seen.push(stack ?? `${name}: ${message}`));
}

export function takeWarnings(): readonly string[] {
  return seen.splice(0);
}

/** Searches a child's stderr for warnings by Node or in the log of `tinman serve`. */
export function noteWarnings(stderr: string): void {
  for (const line of stderr.split("\n")) if (isWarning(line)) seen.push(line);
}

function isWarning(line: string): boolean {
  return /^\(node:\d+\) .*Warning: /.test(line) || /"event":"process\.warning","name":/.test(line);
}
