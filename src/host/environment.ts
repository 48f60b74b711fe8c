import { release, type as systemName } from "node:os";
import { repositoryState } from "./repository-state.ts";
import { shellArguments } from "./shell.ts";
import { toolVersions } from "./tool-versions.ts";

function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

async function machine(cwd: string, cacheFile: string): Promise<string> {
  const tools = await toolVersions(cacheFile, cwd).catch(() => []);
  return [
    "Environment",
    `Platform: ${process.platform} ${process.arch} (${systemName()} ${release()})`,
    `Shell: ${shellArguments()[0]}`,
    `Date: ${today()}`,
    `Working directory: ${cwd}`,
    ...(tools.length === 0 ? [] : [`Tools: ${tools.join(", ")}`]),
  ].join("\n");
}

/**
 * What the model is told of the machine and of the repository around `cwd`, as one text each. Fast when nothing changed
 * since the last time: then only git is started, and only inside a repository. Never rejects.
 */
export function describeEnvironment(options: {
  readonly cacheFile: string;
}): (cwd: string) => Promise<readonly string[]> {
  return async (cwd) => {
    const [environment, repository] = await Promise.all([machine(cwd, options.cacheFile), repositoryState(cwd)]);
    return repository === undefined ? [environment] : [environment, repository];
  };
}
