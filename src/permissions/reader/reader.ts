import { forEachChild, type ParsedScript, parse, type Statement, type SyntaxNode } from "unbash";
import type { CommandPart, Touch } from "../../engine/permission.ts";
import { type Surroundings, setting } from "../judgement.ts";
import { classed, group, inBackground, unreadable } from "../parts.ts";
import { mayDelete } from "../places/suspect-text.ts";
import { type Arg, escaped, type Printed } from "../programs/arg.ts";
import { passesNames } from "../programs/listings.ts";
import { touchesOf } from "../programs/touches.ts";
import { unclearText } from "../rules/refused-text.ts";
import { either, type Folders } from "../shell/folders.ts";
import { variableRisk } from "../shell/variables.ts";
import { createBindings } from "./bindings.ts";
import { eitherOf, joined, repeated, same, TooMuch, type Walked } from "./flow.ts";
import { isCommand, isPlainAssignment, sourceOf } from "./nodes.ts";
import { noteNames } from "./noted-names.ts";
import { redirections, simple } from "./simple-command.ts";
import { note, type Place, type Reader, type ReaderParts } from "./state.ts";
import { inside, values } from "./words.ts";

const mostNodes = 2000;
const mostLoopWords = 20;

/**
 * Walks a parsed command and judges every node. Anything unparsable or unknown is `high`; nothing counts as harmless
 * because it was skipped. Throws `TooMuch` if there are too many nodes.
 */
export function readScript(
  command: string,
  start: Surroundings,
  parts: ReaderParts,
): { readonly part: CommandPart; readonly isDoubtful: boolean; readonly listed: readonly Touch[] } {
  let nodes = 0;
  const reader: Reader = {
    ...parts,
    bindings: bindingsOf(command, parts),
    near: [],
    fallback: [],
    listed: [],
    hasTexts: false,
    hasValues: false,
    count() {
      nodes += 1;
      if (nodes > mostNodes) throw new TooMuch();
    },
    text: (inner, around, depth) => text(reader, inner, around, depth),
    script: (node, place, kind) => script(reader, node, place, kind),
  };
  const { part } = text(reader, command, start, 0);
  return { part, isDoubtful: parts.trustsVariables && reader.hasTexts && reader.hasValues, listed: reader.listed };
}

function bindingsOf(command: string, { places, trustsVariables }: ReaderParts) {
  return createBindings(command, places.home, trustsVariables);
}

/** A nested text has separate variables. Its effect on outer variables is unknown. */
function text(reader: Reader, command: string, { folders, variables = [] }: Surroundings, depth: number): Walked {
  const unclear = unclearText(command, depth > 0);
  if (unclear !== undefined) return { part: unreadable(command, unclear), flow: same(undefined) };
  const outer = reader.bindings;
  if (depth > 0) {
    reader.hasTexts = true;
    reader.bindings = bindingsOf(command, reader);
  }
  const place = { folders, variables, source: command, depth, isTop: depth === 0 };
  const walked = script(reader, parse(command), place, "script");
  reader.bindings = outer;
  return walked;
}

function script(reader: Reader, node: ParsedScript, place: Place, kind: string): Walked {
  const here = { ...place, source: node.source ?? place.source };
  const source = sourceOf(node, here);
  const [error] = node.errors ?? [];
  if (error !== undefined)
    return { part: unreadable(source, `cannot be parsed: ${error.message}`), flow: same(undefined) };
  return statements(reader, node.commands, here, kind, source);
}

function statements(reader: Reader, list: readonly Statement[], place: Place, kind: string, source: string): Walked {
  const parts: CommandPart[] = [];
  let flow = same(place.folders);
  let prints: Printed | undefined;
  const lists: Touch[] = [];
  let isPrelude = place.isTop === true;
  for (const { command, background } of list) {
    // After anything other than plain assignments, an error may skip the rest.
    const isBackground = background === true;
    isPrelude &&= !isBackground && isPlainAssignment(command);
    const walked = walk(reader, command, { ...place, isTop: isPrelude, folders: eitherOf(flow) });
    if (isBackground) reader.moved.overlaps();
    flow = isBackground ? same(eitherOf(flow)) : walked.flow;
    parts.push(isBackground ? inBackground(walked.part) : walked.part);
    prints = walked.prints;
    lists.push(...(walked.lists ?? []));
  }
  const [only] = parts;
  if (only === undefined || parts.length > 1) return { part: group(kind, source, parts), flow, lists };
  return { part: kind === "script" ? only : group(kind, source, parts), flow, prints, lists };
}

function walk(reader: Reader, node: SyntaxNode, at: Place): Walked {
  const walked = judgeNode(reader, node, at);
  // The shell may also have stayed where it was, or be back where it began.
  if (at.folders !== undefined && eitherOf(walked.flow) === undefined) {
    note(reader.fallback, [...at.folders, reader.places.cwd].map(escaped));
  }
  return walked;
}

function judgeNode(reader: Reader, node: SyntaxNode, at: Place): Walked {
  reader.count();
  const place = node.type === "Command" ? at : { ...at, isTop: false };
  const source = sourceOf(node, place);
  switch (node.type) {
    case "Command":
      return simple(reader, node, place);
    case "Pipeline":
      return pipeline(reader, node, place);
    case "AndOr":
      return andOr(reader, node, place);
    case "Subshell":
      // Bash tries arithmetic first, and then reads the text again as a subshell.
      if (source.startsWith("((")) return { part: unreadable(source, "may be arithmetic"), flow: same(undefined) };
      return { ...statements(reader, node.body.commands, place, "subshell", source), flow: same(place.folders) };
    case "BraceGroup":
      return statements(reader, node.body.commands, place, "group", source);
    case "CompoundList":
      return statements(reader, node.commands, place, "list", source);
    case "Redirected": {
      const { part, flow } = walk(reader, node.command, place);
      return { part: group("redirected", source, [part, ...redirections(reader, node.redirects, place)]), flow };
    }
    case "If": {
      const branches = [node, ...node.elif].flatMap(({ clause, then }) => [clause, then]);
      return sequence(reader, "if", source, node.else === undefined ? branches : [...branches, node.else], place);
    }
    case "While":
      reader.moved.overlaps();
      return repeated(source, place.folders, (folders) =>
        sequence(reader, "round", source, [node.clause, node.body], { ...place, folders }),
      );
    case "For":
      return loop(reader, node, place);
    case "Case": {
      const words = [node.word, ...node.items.flatMap(({ pattern }) => pattern)];
      const inner = words.flatMap((word) => inside(reader, word, place));
      const bodies = node.items.map(({ body }) => body);
      const { part, flow } = sequence(reader, "case", source, bodies, place);
      return { part: group("case", source, [...inner, part]), flow };
    }
    case "TestCommand":
      return { part: group("test", source, inside(reader, node, place)), flow: same(place.folders) };
    default:
      return { part: notKnown(reader, node, place, source), flow: same(undefined) };
  }
}

/** Nodes that are searched for commands, but never harmless. */
function notKnown(reader: Reader, node: SyntaxNode, place: Place, source: string): CommandPart {
  reader.moved.overlaps();
  const parts: CommandPart[] = [];
  forEachChild(node, (child) =>
    parts.push(...(isCommand(child) ? [walk(reader, child, place).part] : inside(reader, child, place))),
  );
  const why = `uses ${node.type}, which is not followed`;
  return classed(group(node.type, source, parts), "high", "unknown-node", why);
}

/** Consecutive lists, each of which may or may not run. */
function sequence(reader: Reader, kind: string, source: string, lists: readonly SyntaxNode[], place: Place): Walked {
  let folders = place.folders;
  const parts = lists.map((list) => {
    const { part, flow } = walk(reader, list, { ...place, folders });
    folders = either(folders, eitherOf(flow));
    return part;
  });
  return { part: group(kind, source, parts), flow: same(folders) };
}

function loop(reader: Reader, node: SyntaxNode & { type: "For" }, place: Place): Walked {
  reader.moved.overlaps();
  const source = sourceOf(node, place);
  const name = node.name.value;
  const words = node.wordlist ?? [];
  const noted = reader.listed.length;
  const listed = words.flatMap((word) => values(reader, word, place));
  const before = words.flatMap((word) => inside(reader, word, place));
  if (!mayDelete(sourceOf(node.body, place))) reader.listed.length = noted;
  // A pattern reveals file names, whatever is done with them.
  const patterns = listed.filter(({ kind }) => kind === "pattern");
  const shownNames = patterns.flatMap((arg) => touchesOf(arg, "read", "read", place) ?? []);
  const isDangerous = variableRisk(name, undefined) === "dangerous" || !/^[A-Za-z_]\w*$/.test(name);
  const rounds: readonly (Arg | undefined)[] =
    listed.length === 0 || listed.length > mostLoopWords ? [undefined] : listed;
  const walked = repeated(source, place.folders, (folders) => {
    const parts = rounds.map((value) => {
      // One match of a pattern at a time.
      reader.hasValues ||= value !== undefined;
      reader.bindings.bind(name, value?.kind === "pattern" ? { ...value, single: true } : value);
      return walk(reader, node.body, { ...place, folders });
    });
    const after = parts.reduce<Folders>((all, { flow }) => either(all, eitherOf(flow)), folders);
    const walkedParts = parts.map(({ part }) => part);
    return { part: group("rounds", source, walkedParts), flow: same(after) };
  });
  reader.bindings.forget(name);
  const part = { ...group("loop", source, [...before, walked.part]), touches: [setting(name), ...shownNames] };
  const judged = isDangerous ? classed(part, "high", "dangerous-variable", `sets ${name}`) : part;
  return { part: judged, flow: walked.flow };
}

function andOr(reader: Reader, node: SyntaxNode & { type: "AndOr" }, place: Place): Walked {
  const [first, ...rest] = node.commands;
  if (first === undefined)
    return { part: unreadable(sourceOf(node, place), "has an empty list"), flow: same(undefined) };
  let { part, flow } = walk(reader, first, place);
  const parts = [part];
  for (const [index, command] of rest.entries()) {
    ({ part, flow } = joined(flow, node.operators[index] ?? "", (folders) =>
      walk(reader, command, { ...place, folders }),
    ));
    parts.push(part);
  }
  return { part: group("list", sourceOf(node, place), parts), flow };
}

function pipeline(reader: Reader, node: SyntaxNode & { type: "Pipeline" }, place: Place): Walked {
  const [first] = node.commands;
  if (first !== undefined && node.commands.length === 1) {
    const { part, flow } = walk(reader, first, place);
    return { part, flow: same(eitherOf(flow)) };
  }
  reader.moved.overlaps();
  let input: Printed | undefined;
  let lists: readonly Touch[] = [];
  const parts = node.commands.map((command, index) => {
    const walked = walk(reader, command, {
      ...place,
      input,
      isUsed: place.isUsed === true || index < node.commands.length - 1,
    });
    input = node.operators[index] === "|&" ? undefined : walked.prints;
    if (lists.length > 0 && mayDelete(sourceOf(command, place))) noteNames(reader, lists);
    const passed = passesNames(walked.part.words ?? []) ? lists : [];
    lists = [...passed, ...(walked.lists ?? [])];
    return walked.part;
  });
  return { part: group("pipeline", sourceOf(node, place), parts), flow: same(place.folders), prints: input, lists };
}
