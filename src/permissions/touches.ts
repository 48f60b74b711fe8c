import type { AccessClass, Touch } from "../core/permission.ts";
import type { Arg } from "./arg.ts";
import type { Surroundings } from "./judgement.ts";

/** Devices that hold nothing and keep nothing, and the streams that a command has anyway. */
const harmlessDevice = /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)$/;

/** What a word names, as things to look up; `undefined` when it may be anything. */
export function touchesOf(
  arg: Arg,
  use: "read" | "write",
  accessClass: AccessClass,
  { folders }: Pick<Surroundings, "folders">,
  recursive = false,
): readonly Touch[] | undefined {
  const touch = (what: Touch["lookup"]["what"], path: string): Touch => {
    return { use, class: accessClass, lookup: { what, path }, recursive };
  };
  if (arg.kind === "unknown") return undefined;
  if (arg.kind === "input") {
    const { printed } = arg;
    if (folders?.join("\n") !== printed.from.join("\n")) return undefined;
    // Where links lead is looked up; the folders themselves were, when their paths were printed.
    const what = arg.asWords ? "names-below" : "links-below";
    return printed.folders.map((folder) => ({ ...touch(what, folder), recursive: true }));
  }
  if (arg.kind === "text" && (harmlessDevice.test(arg.value) || (arg.value === "-" && use === "read"))) return [];
  if (arg.value.includes("\0")) return undefined;
  const what = arg.kind === "pattern" ? "matches" : "path";
  if (arg.value.startsWith("/")) return [touch(what, arg.value)];
  return folders?.map((folder) => {
    const base = arg.kind === "pattern" ? folder.replace(/[*?[\]\\+@!(]/g, "\\$&") : folder;
    return touch(what, `${base === "/" ? "" : base}/${arg.value}`);
  });
}

/** The working directory, which is used because nothing else was named. What changes something changes it there. */
export function folderTouches(
  { folders }: Pick<Surroundings, "folders">,
  accessClass: AccessClass,
  recursive: boolean,
): readonly Touch[] | undefined {
  const use = accessClass === "read" ? "read" : "write";
  return folders?.map((path) => ({ use, class: accessClass, lookup: { what: "path", path }, recursive }));
}

/** What else matters when a folder is read: credentials of git, and links where they are followed. */
export function belowTouches(
  touches: readonly Touch[],
  also: { readonly git: boolean; readonly links: "always" | "below" | "never" },
): readonly Touch[] {
  return touches
    .filter(({ lookup }) => lookup.what === "path")
    .flatMap((touch): readonly Touch[] => {
      const { lookup, recursive } = touch;
      const git: Touch = { ...touch, lookup: { ...lookup, what: "credentials" }, recursive: false };
      const links: Touch = { ...touch, lookup: { ...lookup, what: "links-below" } };
      const follows = also.links === "always" || (also.links === "below" && recursive);
      return [...(also.git && recursive ? [git] : []), ...(follows ? [links] : [])];
    });
}

/** Files in the last folder that are called like the others; all of it, when folders are copied. */
export function filledFolder(
  files: readonly { readonly kind: string; readonly arg: Arg }[],
  accessClass: AccessClass,
  around: Pick<Surroundings, "folders">,
  recursive: boolean,
): readonly Touch[] | undefined {
  const target = files.find(({ kind }) => kind === "write")?.arg;
  if (target?.kind !== "text") return undefined;
  const touches: (readonly Touch[] | undefined)[] = recursive
    ? [touchesOf(target, "write", accessClass, around)?.map(withLinks)]
    : [];
  for (const { kind, arg } of files) {
    if (kind === "write") continue;
    if (arg.kind !== "text" && arg.kind !== "pattern") return undefined;
    const name = arg.value.replace(/\/+$/, "").split("/").at(-1) ?? "";
    const folder = arg.kind === "pattern" ? target.value.replace(/[*?[\]\\+@!(]/g, "\\$&") : target.value;
    touches.push(touchesOf({ kind: arg.kind, value: `${folder}/${name}` }, "write", accessClass, around));
  }
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}

function withLinks(touch: Touch): Touch {
  return { ...touch, lookup: { ...touch.lookup, what: "links-below" } };
}
