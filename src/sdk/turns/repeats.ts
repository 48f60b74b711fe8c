/** Keeps the `most` newest entries: copies and stragglers arrive soon after the original. */
export function forgetOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  // The usual case, on the streaming path: creates no iterator.
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/** A longer text is not kept just to recognise copies of it. */
const longest = 256;

/** A short fingerprint: equal for equal texts. */
export function markOf(text: string): string {
  if (text.length <= longest) return `text ${text}`;
  // FNV-1a. A slice of the text would keep the whole in memory.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `hash ${text.length} ${hash}`;
}
