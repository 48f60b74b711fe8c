/** Globs, anchored at a searched folder, for the places that lie below it. */
export function placesBelow(folder: string, places: readonly string[]): readonly string[] {
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  return places
    .filter((place) => place.startsWith(base))
    .map((place) => `/${place.slice(base.length).replace(/[*?[\]{}!\\]/g, "\\$&")}`);
}
