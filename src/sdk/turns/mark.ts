/** A longer text is not kept for the sake of knowing it again. */
const longest = 256;

/** Short, and equal for equal texts; for others different, as far as can be. */
export function markOf(text: string): string {
  if (text.length <= longest) return `text ${text}`;
  // FNV-1a. A piece of the text would do less, and in today's engines keep the whole in memory.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `hash ${text.length} ${hash}`;
}
