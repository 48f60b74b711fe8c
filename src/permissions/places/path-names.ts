/** Whether a path is a folder or inside it. `/a-b` is not inside `/a`. */
export function isInside(path: string, folder: string): boolean {
  const base = plain(folder);
  return base === "/" || `${plain(path)}/`.startsWith(`${base}/`);
}

export function liesIn(path: string, folder: string, foldsCase = false): boolean {
  return foldsCase ? isInside(folded(path), folded(folder)) : isInside(path, folder);
}

/** Characters that some file systems ignore in names. */
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;

/** Comparison form of the most lenient file system: `.SSH`, and `.ſsh` with a long s, are `.ssh`. */
export function folded(path: string): string {
  if (/^[ -@[-~]*$/.test(path)) return path;
  return path.normalize("NFKC").replace(ignorable, "").toUpperCase().toLowerCase();
}

/** Without repeated or trailing slashes. */
export function plain(path: string): string {
  if (!path.includes("//") && !path.endsWith("/")) return path;
  return path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
