/**
 * Has a text that grew piece by piece take no more memory than its characters. Until it is read, V8 keeps such a text as a
 * tree with a node of 32 bytes for each piece; to read one character makes it one string.
 */
export function compact(text: string): void {
  text.charCodeAt(0);
}
