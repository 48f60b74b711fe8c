import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

const maxLines = 400;
/** The aim is about 15. */
const maxFiles = 17;
const isCode = (path: string): boolean => /\.(?:ts|mjs)$/.test(path);

interface Limit {
  readonly says: string;
  readonly holdsFor: (path: string) => boolean;
  readonly pattern: RegExp;
}

/** These need foreign prose, because other programs and libraries have no codes for it. */
const readsForeignProse: readonly string[] = [
  "src/connect/socket-faults.ts",
  "src/main.ts",
  "src/models/calls/ai-sdk.ts",
  "src/sdk/errors.ts",
  "src/sdk/open.ts",
];

const limits: readonly Limit[] = [
  {
    says: "replaces a module instead of a port",
    holdsFor: (path) => path.startsWith("test/") && isCode(path),
    pattern: /\bvi\.(?:do)?mock\b/i,
  },
  {
    says: "leaves tests out",
    holdsFor: (path) => path.startsWith("test/") && isCode(path),
    pattern: /\.(?:only|skip|todo)\(/,
  },
  {
    says: "puts work off",
    holdsFor: (path) => path.startsWith("src/") && isCode(path),
    pattern: /(?:\/\/|\/\*+|^\s*\*)\s*(?:TODO|FIXME|XXX)\b/,
  },
  {
    says: "decides by a sentence, where a code or cause belongs",
    holdsFor: (path) => path.startsWith("src/") && isCode(path) && !readsForeignProse.includes(path),
    pattern:
      /\b(?:message|why|stderr)(?:\s*[!=]==\s*(?:["'`][^"'`]* |\w+\.message)|\??\.(?:includes|startsWith|endsWith|match)\(["'`/])|\.test\([\w.?]*\b(?:message|why|stderr)\)/,
  },
  {
    says: "names a package registry",
    holdsFor: () => true,
    pattern: /https?:\/\/[^\s/"']*(?:registry|artifactory|verdaccio|nexus|mirror)|^(?:@[\w-]+:)?registry\s*=/i,
  },
  {
    says: "says where a package is downloaded from",
    holdsFor: (path) => path.endsWith("package-lock.json"),
    pattern: /"resolved":\s*"http/,
  },
  { says: "names a folder of the machine it was written on", holdsFor: () => true, pattern: machinePaths() },
];

/** This checkout and the home folder, except root's, which examples use. */
function machinePaths(): RegExp {
  const folders = [process.cwd(), homedir()].filter((folder) => folder.split("/").length > 2);
  const escaped = folders.map((folder) => folder.replace(/[^\w/]/g, "\\$&"));
  return new RegExp(`(?:${[...escaped, "file:///(?:home|Users|root)/"].join("|")})(?![\\w-])`);
}

/** Every file that git tracks or would track. */
export function keptFiles(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return listed
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "" && existsSync(path));
}

export function faultsOfFile(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return text.includes("\0") ? [] : faultsOfText(path, text);
}

export function faultsOfText(path: string, text: string): readonly string[] {
  const lines = text.split("\n");
  const faults: string[] = [];
  const count = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (isCode(path) && count > maxLines && !isGenerated(text))
    faults.push(`${path} has ${count} lines; ${maxLines} is the most`);
  for (const { says, holdsFor, pattern } of limits) {
    if (!holdsFor(path)) continue;
    const at = lines.findIndex((line) => pattern.test(line));
    if (at >= 0) faults.push(`${path}:${at + 1} ${says}`);
  }
  return faults;
}

/** Nobody reads it from top to bottom. */
function isGenerated(text: string): boolean {
  return text.startsWith("/* Written by `npm run ");
}

/** The folders of `src` among these paths that have too many files, except tables of data. */
export function crowdedFolders(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = dirname(path);
    if (path.startsWith("src/") && folder !== "src/permissions/programs/rows")
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) =>
    count > maxFiles ? `${folder} has ${count} files; ${maxFiles} is the most` : [],
  );
}
