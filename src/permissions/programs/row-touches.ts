import type { AccessClass, Touch } from "../../engine/permission.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { worse } from "../autonomy.ts";
import type { Surroundings } from "../judgement.ts";
import { type Arg, escaped, textOf } from "./arg.ts";
import type { Fit } from "./argv.ts";
import type { CommandRow } from "./command-row.ts";
import { asking, filledFolder, folderTouches, lossesOf, touchesOf } from "./touches.ts";

/** The paths that a call fitting a row reads and writes; `undefined` if they are not known in advance. */
export function touchesFor(
  row: CommandRow,
  { operands, values, dashes, given }: Fit,
  around: Surroundings,
  recursive: boolean,
): readonly Touch[] | undefined {
  const writes: AccessClass = worse("low", row.class);
  const isFile = ({ kind }: { readonly kind: string }): boolean => kind === "read" || kind === "write";
  const files = [...operands.filter(isFile), ...values.filter(isFile)];
  // All programs but tee replace or change a device that they name, instead of writing to it.
  const devices = row.program === "tee" ? [] : operands.map(({ arg }) => arg);
  if (row.deletes === true) return deleted(operands, row.class, around, deletesSilently(given));
  const touches = files.map(({ kind, arg }) =>
    kind === "write"
      ? touchesOf(arg, "write", writes, around, recursive, !devices.includes(arg))
      : touchesOf(arg, "read", "read", around, recursive),
  );
  const usesFolder = row.class !== "read" || !operands.some(({ kind }) => kind === "read");
  if (row.folder === true && usesFolder) touches.push(folderTouches(around, row.class, recursive));
  if (row.fillsFolder === true) {
    const whole = recursive || row.movesFolders === true || row.linksTo === true;
    touches.push(filledFolder(splitTarget(operands, values), writes, around, { recursive, whole }));
  }
  if (row.program === "chmod") {
    const mode = textOf(operands.find(({ kind }) => kind === "text")?.arg) ?? "";
    for (const { arg } of files) {
      // Adding permissions can make hooks run, but deletes nothing.
      const isAdding = recursive && /^[ugoa]*\+[rwxX]+$/.test(mode);
      if (isAdding) {
        const below = touchesOf(arg, "write", "high", around, true);
        touches.push(below?.map((touch) => ({ ...touch, anyBelow: true })));
        continue;
      }
      const changed = touchesOf(arg, "write", writes, around);
      touches.push(changed?.map((touch) => ({ ...touch, moves: true })));
      if (recursive) touches.push(changed?.map(asking("repositories-below")));
    }
  }
  if (row.linksTo === true) touches.push(...linkTargets(splitTarget(operands, values), around));
  if (row.obeys !== undefined) touches.push(settingsAbove(row.obeys.split(" "), around));
  if (row.obeysIgnoreFiles === true) {
    const searched = [...(folderTouches(around, "read", false) ?? []), ...touches.flatMap((found) => found ?? [])];
    touches.push(searched.filter(({ lookup }) => lookup.what === "path").map(asking("ignore-links")));
  }
  if (row.picksNames !== undefined) touches.push(...pickedNames(row, values, writes, around));
  const [named] = operands.filter(({ kind }) => kind === "text");
  if (row.namedBy !== undefined && named !== undefined && !operands.some(({ kind }) => kind === "write")) {
    const name = row.namedBy(textOf(named.arg) ?? "");
    const made = { kind: "text", value: name ?? "" } as const;
    touches.push(name === undefined ? undefined : touchesOf(made, "write", writes, around, recursive));
  }
  if (row.textMayBeFile === true) {
    const texts = operands.filter(({ kind }) => kind === "text");
    for (const { arg } of texts) touches.push(touchesOf(arg, "write", row.class, around)?.map(asking("existing")));
  }
  if (row.writesTree === true) touches.push(folderTouches(around, row.class, true)?.map(asking("work-tree")));
  if (row.movesFolders === true) {
    const { sources } = splitTarget(operands, values);
    for (const arg of sources) {
      const moved = touchesOf(arg, "write", writes, around, true, false);
      touches.push(moved?.map((touch) => ({ ...touch, moves: true })));
    }
  }
  for (const { arg } of [...operands, ...values])
    if (arg.kind === "input") touches.push(touchesOf(arg, "read", "read", around));
  for (const suffix of row.suffixes?.split(" ") ?? []) {
    for (const { kind, arg } of operands) {
      if (kind !== "read" || arg.kind === "unknown" || arg.kind === "input") continue;
      touches.push(touchesOf({ ...arg, value: arg.value + suffix }, "read", "read", around));
    }
  }
  const dashed = dashes.map((arg) => touchesOf(arg, "read", "read", around)?.map(asking("dashes")));
  touches.push(...dashed);
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}

/** A settings file in the working directory and above it. The user's own, in the home, is trusted. */
function settingsAbove(names: readonly string[], { folders, home }: Surroundings): readonly Touch[] | undefined {
  return [...new Set(folders?.flatMap(above))]
    .filter((folder) => folder !== home)
    .flatMap((folder) => names.map((name) => `${withoutTrailingSlashes(folder)}/${name}`))
    .map((path) => ({ use: "read", class: "medium", lookup: { what: "existing", path }, recursive: false }));
}

/** `rm -f` of a single file expects that it may be missing. */
function deletesSilently(given: Fit["given"]): boolean {
  return (
    (given.has("-f") || given.has("--force")) &&
    !["-r", "-R", "--recursive", "-d", "--dir"].some((flag) => given.has(flag))
  );
}

/** Deleting takes everything inside as well, so all of it must be restorable. `existing`: missing files don't count. */
function deleted(
  operands: Fit["operands"],
  accessClass: AccessClass,
  around: Surroundings,
  existing: boolean,
): readonly Touch[] | undefined {
  const touches = operands.map(({ arg }) => {
    if (arg.kind !== "text" && arg.kind !== "pattern") return undefined;
    const named = touchesOf(arg, "write", accessClass, around, true, false);
    return named?.flatMap((touch): readonly Touch[] => {
      const { lookup, ...more } = asking("unsaved")(touch);
      const lost: Touch = { ...more, use: "delete", lookup: existing ? { ...lookup, from: "existing" } : lookup };
      return [{ ...touch, moves: true }, lost, ...lossesOf(touch)];
    });
  });
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}

/** Any name in the filled folder, including its content, and the targets of links that are written through. */
function pickedNames(
  { picksNames }: CommandRow,
  values: Fit["values"],
  writes: AccessClass,
  around: Surroundings,
): readonly (readonly Touch[] | undefined)[] {
  const named = values.filter(({ kind }) => kind === "write").map(({ arg }) => arg);
  const folders =
    named.length === 0
      ? [folderTouches(around, writes, true)]
      : named.map((arg) => touchesOf(arg, "write", writes, around, true));
  // Whether the folders exist: only then can walls keep names in them.
  const existing = folders.map((touches) => touches?.map(existingFolder));
  if (picksNames === "patch") {
    const rules = folders.map((touches) =>
      touches?.map(
        (touch): Touch => ({
          ...touch,
          lookup: { what: "existing", path: `${touch.lookup.path}/.tinman` },
          anyBelow: true,
        }),
      ),
    );
    const anywhere = folders.map((touches) => touches?.map((touch): Touch => ({ ...touch, anyBelow: true })));
    return [...anywhere, ...rules, ...existing, aroundPatch(writes, around)];
  }
  // An archive can contain a whole repository with hooks; a single fetched file cannot.
  const repositories = folders.map((touches) =>
    touches?.map((touch): Touch => ({ ...touch, lookup: { what: "existing", path: `${touch.lookup.path}/.git` } })),
  );
  // Unpacking follows existing links.
  const links = folders.map((touches) => touches?.map(asking("links-below")));
  if (picksNames === "archive") {
    const anywhere = folders.map((touches) => touches?.map((touch): Touch => ({ ...touch, anyBelow: true })));
    return [
      ...anywhere,
      ...repositories,
      ...existing,
      ...folders.map((touches) => touches?.map(asking("repositories-below"))),
      ...links,
    ];
  }
  const entries = folders.map((touches) =>
    touches?.map((touch): Touch => {
      const path = `${touch.lookup.what === "path" ? escaped(touch.lookup.path) : touch.lookup.path}/*`;
      return { ...touch, recursive: false, lookup: { what: "matches", path } };
    }),
  );
  return [...folders, ...entries];
}

function existingFolder({ lookup }: Touch): Touch {
  return { use: "read", class: "read", lookup: { what: "existing", path: lookup.path }, recursive: false };
}

/** A patch can name files that Tinman or git obeys, if a repository is in the folder or around it. */
function aroundPatch(writes: AccessClass, { folders }: Surroundings): readonly Touch[] | undefined {
  return folders?.flatMap((folder) =>
    above(folder).map((path): Touch => {
      const lookup = { what: "existing", path: `${withoutTrailingSlashes(path)}/.git` } as const;
      return { use: "write", class: writes, lookup, recursive: false, anyBelow: true };
    }),
  );
}

/** A folder and those around it. */
function above(folder: string): readonly string[] {
  const parts = folder.split("/").slice(1);
  return [folder, ...parts.map((_, at) => `/${parts.slice(0, at).join("/")}`)];
}

/** The links' targets with everything in them. The last word can be the link itself, or the folder for it. */
function linkTargets(
  { sources, target }: ReturnType<typeof splitTarget>,
  around: Surroundings,
): readonly (readonly Touch[] | undefined)[] {
  const place = textOf(target);
  if (place === undefined) return [undefined];
  const folders = [place, folderOf(place), "."];
  return sources.flatMap((arg) => {
    if (arg.kind !== "text" && arg.kind !== "pattern") return [undefined];
    const isAbsolute = arg.value.startsWith("/");
    return (isAbsolute ? ["."] : folders).map((folder) => {
      const base = arg.kind === "pattern" ? escaped(folder) : folder;
      return touchesOf(
        { ...arg, value: isAbsolute ? arg.value : `${base}/${arg.value}` },
        "read",
        "read",
        around,
        true,
      );
    });
  });
}

/** The sources, and the target folder: the value of a flag, or the last word. */
function splitTarget(
  operands: Fit["operands"],
  values: Fit["values"],
): { sources: readonly Arg[]; target: Arg | undefined } {
  const named = values.find(({ kind }) => kind === "write")?.arg;
  const words = operands.map(({ arg }) => arg);
  return named === undefined
    ? { sources: words.slice(0, -1), target: words.at(-1) }
    : { sources: words, target: named };
}

function folderOf(path: string): string {
  const plain = withoutTrailingSlashes(path);
  const at = plain.lastIndexOf("/");
  if (plain === "") return "/";
  return at < 0 ? "." : plain.slice(0, Math.max(1, at));
}
