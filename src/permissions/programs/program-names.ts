import { type Arg, textOf } from "./arg.ts";

const mostNames = 50;
/** Programs whose first argument names the action. */
const withSubCommand = new Set(["git", "npm"]);
/** These names say nothing about what runs. */
const leftOut = new Set(["cd", "sudo"]);

/** The program that a command runs, as people call it. */
export function nameOf(args: readonly Arg[]): string | undefined {
  const name = textOf(args[0])?.split("/").at(-1);
  if (name === undefined || name === "" || leftOut.has(name)) return undefined;
  const sub = textOf(args[1]);
  return withSubCommand.has(name) && sub !== undefined && /^[a-z][a-z-]*$/.test(sub) ? `${name} ${sub}` : name;
}

export function namesForPeople(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, mostNames);
}
