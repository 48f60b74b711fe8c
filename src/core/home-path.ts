/**
 * A path as users write it: `~` and what begins with `~/` is in their home. Throws with words for `~name`: other users' homes
 * are not looked up, and a folder of that name must not come to be by accident.
 */
export function expandHome(path: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return `${home}${path.slice(1)}`;
  if (!path.startsWith("~")) return path;
  const remedy = `Give the whole path, or "./${path}" for a file of that name.`;
  throw new Error(`${path} begins with "~", and only "~/" is known, as your home. ${remedy}`);
}
