import type { AccessClass, Touch } from "../../engine/permission.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import type { Surroundings } from "../judgement.ts";
import { type Arg, escaped, substitutedFile } from "./arg.ts";

/** Devices that store nothing, and a command's standard streams. A terminal is neither: the user types and reads there. */
const harmlessToWrite = /^\/dev\/(null|zero|full|stdout|stderr|fd\/[12])$/;
const harmlessToRead = /^\/dev\/(null|zero|full|random|urandom|stdin|fd\/[0-2])$/;

function isStream(value: string, use: "read" | "write"): boolean {
  if (value === substitutedFile || (value === "-" && use === "read")) return true;
  return (use === "read" ? harmlessToRead : harmlessToWrite).test(value);
}

/** The paths that a word names, as lookups; `undefined` if it may be anything. */
export function touchesOf(
  arg: Arg,
  use: "read" | "write",
  accessClass: AccessClass,
  { folders }: Pick<Surroundings, "folders">,
  recursive = false,
  takesStreams = true,
): readonly Touch[] | undefined {
  const touch = (what: Touch["lookup"]["what"], path: string): Touch => {
    // One lookup for `a`, `./a` and `.//a`.
    return { use, class: accessClass, lookup: { what, path: path.replace(/\/(?:\.?\/)+/g, "/") }, recursive };
  };
  if (arg.kind === "unknown") return undefined;
  if (arg.kind === "input") {
    const { printed } = arg;
    if (folders?.join("\n") !== printed.from.join("\n")) return undefined;
    const what = arg.asWords ? "names-below" : "links-below";
    const ask = (other: Touch["lookup"]["what"]) =>
      printed.folders.map((folder) => asking(other)(touch("path", folder)));
    // The command that printed the names only read. This use of them is judged for every path that they can name.
    const named = printed.sparesGit === true ? {} : { anyBelow: true as const };
    const all = ask("path").map((one) => ({ ...one, ...named }));
    const files = [...ask(what), ...all].map((one) => ({ ...one, recursive: true }));
    if (printed.isTracked === true) return [...files, ...ask("tracked-names")];
    if (printed.sparesGit === true) return files;
    return [...files, ...ask("credentials"), ...(use === "write" ? ask("repositories-below") : [])];
  }
  if (arg.kind === "text" && takesStreams && isStream(arg.value, use)) return [];
  if (arg.value.includes("\0")) return undefined;
  const what = arg.kind === "pattern" ? "matches" : "path";
  if (arg.value.startsWith("/")) return [touch(what, arg.value)];
  return folders?.map((folder) => {
    const base = arg.kind === "pattern" ? escaped(folder) : folder;
    return touch(what, `${base === "/" ? "" : base}/${arg.value}`);
  });
}

/** The working directory, used because no other path was named. */
export function folderTouches(
  { folders }: Pick<Surroundings, "folders">,
  accessClass: AccessClass,
  recursive: boolean,
): readonly Touch[] | undefined {
  const use = accessClass === "read" ? "read" : "write";
  return folders?.map((path) => ({ use, class: accessClass, lookup: { what: "path", path }, recursive }));
}

const takesPattern: ReadonlySet<Touch["lookup"]["what"]> = new Set([
  "matches",
  "unsaved",
  "repositories-below",
  "emptied",
]);

/** The same place with another lookup. */
export function asking(what: Touch["lookup"]["what"]): (touch: Touch) => Touch {
  return (touch) => {
    const { path } = touch.lookup;
    const isEscaped = takesPattern.has(touch.lookup.what) || !takesPattern.has(what);
    return { ...touch, lookup: { ...touch.lookup, what, path: isEscaped ? path : escaped(path) } };
  };
}

/** Other losses when a path, or a pattern's matches, are deleted: repositories, and all of a folder. */
export function lossesOf(touch: Touch): readonly Touch[] {
  const { what } = touch.lookup;
  if (what !== "path" && what !== "matches") return [];
  const lost: Touch = { ...touch, use: "delete", recursive: false };
  const repositories = asking("repositories-below")(lost);
  return what === "path" ? [repositories] : [repositories, asking("emptied")(lost)];
}

/** Further lookups for reading a folder: git credentials, and links if they are followed. */
export function belowTouches(
  touches: readonly Touch[],
  also: { readonly git: boolean; readonly links: boolean },
): readonly Touch[] {
  return touches
    .filter(({ lookup }) => lookup.what === "path")
    .flatMap((touch): readonly Touch[] => {
      const git: Touch = { ...asking("credentials")(touch), recursive: false };
      return [
        ...(also.git && touch.recursive && touch.use === "read" ? [git] : []),
        ...(also.links ? [asking("links-below")(touch)] : []),
      ];
    });
}

/**
 * Files in the target folder with the sources' names. `whole`: folders move with their content, and the target may
 * itself be the new name. `recursive`: sources are copied into existing folders.
 */
export function filledFolder(
  { sources, target }: { readonly sources: readonly Arg[]; readonly target: Arg | undefined },
  accessClass: AccessClass,
  around: Pick<Surroundings, "folders" | "home">,
  { recursive, whole }: { readonly recursive: boolean; readonly whole: boolean },
): readonly Touch[] | undefined {
  if (target?.kind !== "text") return undefined;
  const touches: (readonly Touch[] | undefined)[] = [];
  if (recursive) touches.push(touchesOf(target, "write", accessClass, around)?.map(asking("links-below")));
  // A pattern's matches are unknown here. A home already exists, so it is not a new name.
  const isNewName = whole && withoutTrailingSlashes(target.value) !== around.home;
  if (isNewName || sources.some(({ kind }) => kind === "pattern")) {
    touches.push(touchesOf(target, "write", accessClass, around, true));
  }
  for (const arg of sources) {
    if (arg.kind !== "text" && arg.kind !== "pattern") return undefined;
    const name = withoutTrailingSlashes(arg.value).split("/").at(-1) ?? "";
    const folder = arg.kind === "pattern" ? escaped(target.value) : target.value;
    touches.push(touchesOf({ kind: arg.kind, value: `${folder}/${name}` }, "write", accessClass, around, whole));
    if (recursive && arg.kind === "text") {
      for (const what of ["repositories-below", "hooks-below"] as const)
        touches.push(touchesOf(arg, "write", accessClass, around)?.map(asking(what)));
    }
  }
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}
