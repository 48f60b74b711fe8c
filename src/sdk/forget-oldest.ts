/** Keeps the last `most` of what was put in: copies and stragglers come close behind what they belong to. */
export function forgetOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}
