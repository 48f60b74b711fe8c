import { open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { foldersBetween, repositoryRoot } from "./rules/repository-folders.ts";

/** In order of preference. */
const fileNames = ["AGENTS.md", "CLAUDE.md"];
const maxFileBytes = 32 * 1024;
const maxFiles = 20;

/**
 * A folder's AGENTS.md files (CLAUDE.md where one is missing): the user's, then from the repository's root down. Each
 * is cut at 32 KiB. Links can only lead to texts in the repository, so that it cannot make us read other files.
 */
export async function readInstructions(ownHome: string, cwd: string): Promise<readonly string[]> {
  const root = await repositoryRoot(cwd);
  const folders = foldersBetween(root, cwd).slice(-maxFiles);
  const texts = [
    await readOne(ownHome, ownHome),
    ...(await Promise.all(folders.map((folder) => readOne(folder, root)))),
  ];
  return texts.filter((text) => text !== undefined);
}

function isText(path: string): boolean {
  return /\.mdc?$/i.test(path) && !/[/\\]\.(?:git|tinman)[/\\]/i.test(path);
}

/** The files of folders between a workspace and a path in it, without the workspace's own. */
export async function readInstructionsBelow(cwd: string, path: string): Promise<readonly string[]> {
  const [root, folders] = [await repositoryRoot(cwd), foldersBetween(cwd, path).slice(1, maxFiles)];
  const texts = await Promise.all(folders.map((folder) => readOne(folder, root)));
  return texts.filter((text) => text !== undefined);
}

async function readOne(folder: string, within: string): Promise<string | undefined> {
  for (const name of fileNames) {
    const text = await readFile(join(folder, name), within);
    if (text !== undefined) return text;
  }
  return undefined;
}

async function readFile(path: string, within: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    if (real !== path && !(real.startsWith(`${within}${sep}`) && isText(real.slice(within.length)))) return undefined;
    if (!(await stat(real)).isFile()) return undefined;
    const file = await open(real, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxFileBytes + 1), 0, maxFileBytes + 1, 0);
      const text = buffer.toString("utf8", 0, Math.min(bytesRead, maxFileBytes)).trim();
      if (text === "") return undefined;
      const cut = bytesRead > maxFileBytes ? "\n[cut at 32 KiB]" : "";
      return `Instructions from ${path}:\n\n${text}${cut}`;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
