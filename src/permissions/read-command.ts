import type { CommandPart, CommandReading, DecisionContext, Lookup, Touch } from "../engine/permission.ts";
import { group, lookupsOf, unreadable } from "./parts.ts";
import { createMovedPaths, type MovedPaths } from "./places/moved-paths.ts";
import { mayDelete } from "./places/suspect-text.ts";
import { isPlainShell } from "./programs/wrappers.ts";
import { TooMuch } from "./reader/flow.ts";
import { readScript } from "./reader/reader.ts";
import { refusedText } from "./rules/refused-text.ts";

const longestCommand = 64 * 1024;
const mostBraces = 300;
const mostLookups = 300;
const mostNames = 50;

/**
 * Parses a command and classifies every node. Anything unparsable or unknown is `high`; nothing counts as harmless
 * because it was skipped. Never throws.
 */
export function readCommand(
  command: string,
  places: Pick<DecisionContext, "cwd" | "home">,
  shell: "bash" | "sh" = "bash",
): CommandReading {
  const refused = refusedText(command);
  if (refused !== undefined)
    return { refused, text: command, root: unreadable(command, refused), programs: [], lookups: [] };
  const isLong = command.length > longestCommand || command.split("{").length > mostBraces;
  if (isLong) return reading(command, unreadable(command, "is too long to examine"), []);
  if (shell === "sh" && !isPlainShell(command)) {
    return reading(command, unreadable(command, "uses syntax that needs bash, which was not found"), []);
  }
  const programs: string[] = [];
  const start = { folders: [places.cwd], home: places.home, input: undefined };
  try {
    const exported = new Set<string>();
    const look = (moved: MovedPaths, trustsVariables: boolean) => {
      programs.length = 0;
      const onProgram = (name: string) => void programs.push(name);
      return readScript(command, start, { places, moved, trustsVariables, exported, onProgram });
    };
    const moved = createMovedPaths(places.cwd);
    const { part, isDoubtful, listed } = look(moved, true);
    const isFinal = moved.again === undefined && !isDoubtful && exported.size === 0;
    const final = isFinal ? part : look(moved.again ?? createMovedPaths(places.cwd), !isDoubtful).part;
    const read = reading(command, final, programs, listed.length > 0 && mayDelete(command) ? listed : []);
    return moved.makesLinks ? { ...read, makesLinks: true } : read;
  } catch (error) {
    // The parser never throws. A bug of ours must not let a command run.
    const why = error instanceof TooMuch ? "has too many parts to examine" : "cannot be parsed";
    return reading(command, unreadable(command, why), programs);
  }
}

const mostTogether = 50;

/** Several deletions can empty a folder together, so each of their patterns is looked up along with the others. */
function deletedTogether(root: CommandPart, lookups: readonly Lookup[]): CommandPart {
  const deleted = lookups.filter(({ what, from }) => what === "repositories-below" && from === undefined);
  if (deleted.length < 2) return root;
  const paths = deleted.slice(0, mostTogether).map(({ path }) => path);
  const joined = (touch: Touch): Touch => {
    if (touch.lookup.what !== "emptied") return touch;
    const from = paths.filter((path) => path !== touch.lookup.path).join("\n");
    return { ...touch, lookup: { ...touch.lookup, from } };
  };
  const rewritten = (part: CommandPart): CommandPart => {
    return { ...part, touches: part.touches.map(joined), parts: part.parts.map(rewritten) };
  };
  return rewritten(root);
}

function reading(
  text: string,
  whole: CommandPart,
  programs: readonly string[],
  listed: readonly Touch[] = [],
): CommandReading {
  let [root, suspects] = [whole, listed];
  let lookups = lookupsOf(root, suspects);
  if (lookups.some(({ what }) => what === "emptied")) {
    // Wrap the suspects in a part, so that the same function can rewrite them.
    root = deletedTogether(whole, lookups);
    suspects = deletedTogether({ ...group("listed", "", []), touches: listed }, lookups).touches;
    lookups = lookupsOf(root, suspects);
  }
  const names = [...new Set(programs)].slice(0, mostNames);
  if (lookups.length <= mostLookups)
    return { text, root, programs: names, lookups, ...(suspects.length === 0 ? {} : { suspects }) };
  return { text, root: unreadable(root.source, "names too many files to look up"), programs: names, lookups: [] };
}
