/** Warnings of this process, and of the children that tests have started, since they were last taken. */
const seen: string[] = [];
const isWatched = Symbol.for("tinman.test.warnings");

/** Once for each worker: it runs many files. */
export function watchProcess(): void {
  const once = process as unknown as Record<symbol, boolean>;
  if (once[isWatched]) return;
  once[isWatched] = true;
  process.on("warning", ({ stack, name, message }) => seen.push(stack ?? `${name}: ${message}`));
}

export function takeWarnings(): readonly string[] {
  return seen.splice(0);
}

/** Looks for warnings in what a child has written to stderr, as Node or the log of `tinman serve` writes them. */
export function noteWarnings(stderr: string): void {
  for (const line of stderr.split("\n")) if (isWarning(line)) seen.push(line);
}

function isWarning(line: string): boolean {
  return /^\(node:\d+\) .*Warning: /.test(line) || /"event":"process\.warning","name":/.test(line);
}
