import { link, lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Document, YAMLMap, YAMLSeq } from "yaml";
import { makeFolders } from "../../engine/make-folders.ts";
import { errorCode } from "../../text/system-errors.ts";
import { readPlainText } from "../bounded-file.ts";
import { checkedUserConfig, type ModelEntryConfig, type UserConfig } from "../check/checked-config.ts";
import { invalid, reason } from "../check/config-fault.ts";
import { parseConfig } from "../check/yaml-document.ts";

interface ModelAddition {
  readonly entries: readonly ModelEntryConfig[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** A configuration with an addition. */
interface ChangedConfig {
  readonly path: string;
  /** The file's current text; `undefined` if it is missing. */
  readonly before: string | undefined;
  readonly text: string;
  readonly config: UserConfig;
}

/**
 * The user's configuration with models appended. Keeps comments and everything else. Rejects with `config_invalid` if that is
 * impossible. Writes nothing.
 */
export async function withModels(ownHome: string, addition: ModelAddition): Promise<ChangedConfig> {
  const path = join(ownHome, "config.yaml");
  const before = await textIfThere(path);
  const old = (parseConfig(before ?? "", path) ?? {}) as Record<string, unknown>;
  const { parseDocument } = await import("yaml");
  const document = parseDocument(before ?? "");
  await insert(document, addition, path);
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: /[{[] \S/.test(before ?? "") });
  const value = parseConfig(text, path) as Record<string, unknown>;
  if (!isDeepStrictEqual({ ...old, models: null }, { ...value, models: null })) {
    throw invalid(path, "cannot be changed without affecting other content; add the models by hand");
  }
  return { path, before, text, config: checkedUserConfig(value, path) };
}

async function insert(document: Document, { entries, aliases }: ModelAddition, path: string): Promise<void> {
  const { isMap, isSeq, isAlias } = await import("yaml");
  const byHand = (what: string) => invalid(path, `${what} has a format that cannot be extended; edit it by hand`);
  if (document.contents === null) document.contents = document.createNode({});
  if (!isMap(document.contents)) throw byHand("the file");
  const inside = (parent: YAMLMap, key: string): unknown => {
    const node = parent.get(key, true);
    if (isAlias(node)) throw byHand(key);
    return node;
  };
  /** Content added to an empty `{}` or `[]` would become one long line. */
  const opened = <N extends YAMLMap | YAMLSeq>(node: N): N => {
    if (node.items.length === 0) node.flow = false;
    return node;
  };
  let models = inside(document.contents, "models");
  if (!isMap(models)) {
    // The short form, a list, cannot contain aliases.
    const map = document.createNode({}) as YAMLMap;
    if (isSeq(models)) map.set("entries", models);
    document.contents.set("models", map);
    models = map;
  }
  if (!isMap(models)) throw byHand("models");
  opened(models);
  const known = inside(models, "aliases");
  if (Object.keys(aliases).length > 0) {
    if (isMap(known)) for (const [name, id] of Object.entries(aliases)) opened(known).set(name, id);
    else models.set("aliases", document.createNode(aliases));
  }
  const list = inside(models, "entries");
  if (isSeq(list)) for (const entry of entries) opened(list).add(document.createNode(entry));
  else models.set("entries", document.createNode(entries));
}

/**
 * Replaces the file atomically, readable only by its owner. Rejects with `config_invalid` if it has changed since it was read,
 * or cannot be written.
 */
export async function writeConfig({ path, before, text }: ChangedConfig): Promise<void> {
  // Write through a link: the user keeps the file elsewhere.
  const target = before === undefined ? path : await realpath(path);
  const fresh = `${target}.${process.pid}.new`;
  try {
    await makeFolders(dirname(target), (folder) => mkdir(folder, { mode: 0o700 }));
    const file = await open(fresh, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await textIfThere(path)) !== before) throw new Error("changed in the meantime");
    // A hard link fails if the file was created meanwhile.
    if (before === undefined) await link(fresh, target);
    else await rename(fresh, target);
  } catch (error) {
    throw invalid(path, `cannot be written: ${reason(error)}`);
  } finally {
    await rm(fresh, { force: true });
  }
}

async function textIfThere(path: string): Promise<string | undefined> {
  try {
    return await readPlainText(path);
  } catch (error) {
    const isNothing = errorCode(error) === "ENOENT" && (await lstat(path).catch(() => undefined)) === undefined;
    if (isNothing) return undefined;
    throw invalid(path, reason(error));
  }
}
