import { type FileHandle, mkdir, open, realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeFolders } from "../../engine/make-folders.ts";
import type { Host } from "../../engine/ports.ts";
import { errorCode } from "../../text/system-errors.ts";

type Plan = Parameters<Host["savePlan"]>[0];

/** In UTF-16 units. With date and number, names stay within the file systems' 255 bytes. */
const longestSlug = 60;
/** The part of a text that can affect its slug. */
const looked = 1_000;
const mostOfOneName = 1_000;

/** Writes a plan to a new private file and resolves to its canonical path. */
export async function savePlan(folder: string, plan: Plan, now = new Date()): Promise<string> {
  await makeFolders(folder, (path) => mkdir(path, { mode: 0o700 }));
  const stem = join(await realpath(folder), `${dayOf(now)}-${slugOf(plan)}`);
  for (let number = 1; number <= mostOfOneName; number += 1) {
    const path = number === 1 ? `${stem}.md` : `${stem}-${number}.md`;
    const file = await openNew(path);
    if (file === undefined) continue;
    await fill(file, path, plan.text.endsWith("\n") ? plan.text : `${plan.text}\n`);
    return path;
  }
  throw new Error(`Limit for plans named ${stem}.md reached (${mostOfOneName}). Remove old ones.`);
}

/** `undefined` if the path exists, even as a dangling link. */
async function openNew(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

/** All or nothing. */
async function fill(file: FileHandle, path: string, text: string): Promise<void> {
  try {
    await file.writeFile(text, "utf8");
    await file.datasync();
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** The local date, not UTC. */
function dayOf(now: Date): string {
  const [month, day] = [now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${now.getFullYear()}-${month}-${day}`;
}

function slugOf({ title = "", text }: Plan): string {
  const [, heading = ""] = /^ {0,3}#{1,6}[ \t]+(.*)$/m.exec(text) ?? [];
  const [firstLine = ""] = text.trimStart().split("\n", 1);
  return slugged(title) || slugged(heading) || slugged(firstLine) || "plan";
}

/** Lower-case letters and digits of any script, with single dashes for everything between. */
function slugged(text: string): string {
  const plain = text.slice(0, looked).normalize("NFKC").toLowerCase().replace(/\p{M}/gu, "");
  const words = plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-/, "");
  let slug = "";
  for (const character of words) {
    if (slug.length + character.length > longestSlug) break;
    slug += character;
  }
  return slug.replace(/-$/, "");
}
