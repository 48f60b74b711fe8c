/** A method as people read it: `droid.load_session` is "load session". */
export function methodWords(method: string): string {
  return method.replace(/^droid\./, "").replaceAll("_", " ");
}
