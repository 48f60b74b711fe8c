import { release, type as systemName } from "node:os";
import { repositoryState } from "../git/repository-state.ts";
import { shellArguments } from "../processes/shell.ts";
import { installedTools } from "./installed-tools.ts";

function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

function machine(cwd: string): string {
  const tools = installedTools(cwd);
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
 * Describes the machine and the repository around `cwd` to the model, one text each. Starts only git, and only inside a
 * repository. Never rejects.
 */
export async function describeEnvironment(cwd: string): Promise<readonly string[]> {
  const repository = repositoryState(cwd);
  const environment = machine(cwd);
  const found = await repository;
  return found === undefined ? [environment] : [environment, found];
}
