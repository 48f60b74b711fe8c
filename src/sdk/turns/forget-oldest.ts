/** Keeps the last `most` of what was put in: copies and stragglers come close behind what they belong to. */
export function forgetOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  // Most of the time, and for every piece of text: nothing is made for that.
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}
