import {
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash";
import type { CommandPart, DecisionContext } from "../../engine/permission.ts";
import { type Surroundings, setting } from "../judgement.ts";
import { classed, group, inBackground, unreadable } from "../parts.ts";
import type { MovedPaths } from "../places/moved-paths.ts";
import { type Arg, type Printed, textOf } from "../programs/arg.ts";
import { printedRevision } from "../programs/printed-paths.ts";
import { suspects } from "../programs/suspects.ts";
import { touchesOf } from "../programs/touches.ts";
import { unclearText } from "../rules/refused-text.ts";
import { createBindings } from "./bindings.ts";
import { hasTooManyWords } from "./brace-count.ts";
import { evaluates } from "./evaluation.ts";
import { eitherOf, joined, repeated, same, TooMuch, type Walked } from "./flow.ts";
import { either, type Folders } from "./folders.ts";
import { judgeRedirect, unclearDocument } from "./redirect-risk.ts";
import { isCommand, isPlainAssignment, runsScript, sourceOf } from "./shell-nodes.ts";
import { assigning, evaluate } from "./shell-words.ts";
import { type SimpleCommandParts, walkWords } from "./simple-command.ts";
import { variableRisk } from "./variables.ts";

const mostNodes = 2000;
const mostLoopWords = 20;

interface Place {
  readonly folders: Folders;
  /** The text that node positions point into. */
  readonly source: string;
  readonly input?: Printed | undefined;
  /** How deeply this text is nested in other texts. */
  readonly depth: number;
  /** At the top level of the command list, where it always runs. */
  readonly isTop?: boolean;
  /** Inside a substitution with several commands, where bash may join a here-document to the next one. */
  readonly joinsDocuments?: boolean;
  /** Variables set for all its commands that are not known to be harmless. */
  readonly variables: readonly string[];
}

interface Assigned {
  readonly part: CommandPart;
  readonly gives: readonly string[];
}

export interface ReaderParts {
  readonly whole: string;
  readonly places: Pick<DecisionContext, "cwd" | "home">;
  readonly moved: MovedPaths;
  /** Whether values of variables that the command sets count as known. */
  readonly trustsVariables: boolean;
  /** Variables that the command exports anywhere: every part may see them. */
  readonly exported: Set<string>;
  onProgram(name: string): void;
}

/**
 * Walks a parsed command and judges every node. Anything unparsable or unknown is `high`; nothing counts as harmless
 * because it was skipped. Throws `TooMuch` if there are too many nodes.
 */
export function createReader({
  whole,
  places,
  moved,
  trustsVariables,
  exported,
  onProgram,
}: ReaderParts): Pick<SimpleCommandParts, "text"> & { isDoubtful(): boolean } {
  const { home } = places;
  let nodes = 0;
  let bindings = createBindings(whole, home, trustsVariables);
  let hasTexts = false;
  let hasValues = false;

  const reader = { places, moved, onProgram, onExport: (name: string) => void exported.add(name), text };

  function count(): void {
    nodes += 1;
    if (nodes > mostNodes) throw new TooMuch();
  }

  /** A nested text has separate variables. Its effect on outer variables is unknown. */
  function text(command: string, { folders, variables = [] }: Surroundings, depth: number): Walked {
    const outer = bindings;
    const unclear = unclearText(command, depth > 0);
    if (unclear !== undefined) return { part: unreadable(command, unclear), flow: same(undefined) };
    if (depth > 0) {
      hasTexts = true;
      bindings = createBindings(command, home, trustsVariables);
    }
    const walked = script(parse(command), { folders, variables, source: command, depth, isTop: depth === 0 }, "script");
    bindings = outer;
    return walked;
  }

  function script(node: ParsedScript, place: Place, kind: string): Walked {
    const here = { ...place, source: node.source ?? place.source };
    const source = sourceOf(node, here);
    const [error] = node.errors ?? [];
    if (error !== undefined)
      return { part: unreadable(source, `cannot be parsed: ${error.message}`), flow: same(undefined) };
    return statements(node.commands, here, kind, source);
  }

  function statements(list: readonly Statement[], place: Place, kind: string, source: string): Walked {
    const parts: CommandPart[] = [];
    let flow = same(place.folders);
    let prints: Printed | undefined;
    let isPrelude = place.isTop === true;
    for (const { command, background } of list) {
      // After anything other than plain assignments, an error may skip the rest.
      const isBackground = background === true;
      isPrelude &&= !isBackground && isPlainAssignment(command);
      const walked = walk(command, { ...place, isTop: isPrelude, folders: eitherOf(flow) });
      if (isBackground) moved.overlaps();
      flow = isBackground ? same(eitherOf(flow)) : walked.flow;
      parts.push(isBackground ? inBackground(walked.part) : walked.part);
      prints = walked.prints;
    }
    const [only] = parts;
    if (only === undefined || parts.length > 1) return { part: group(kind, source, parts), flow };
    return { part: kind === "script" ? only : group(kind, source, parts), flow, prints };
  }

  function walk(node: SyntaxNode, at: Place): Walked {
    count();
    const place = node.type === "Command" ? at : { ...at, isTop: false };
    const source = sourceOf(node, place);
    switch (node.type) {
      case "Command":
        return simple(node, place);
      case "Pipeline":
        return pipeline(node, place);
      case "AndOr":
        return andOr(node, place);
      case "Subshell":
        // Bash tries arithmetic first, and then reads the text again as a subshell.
        if (source.startsWith("((")) return { part: unreadable(source, "may be arithmetic"), flow: same(undefined) };
        return { ...statements(node.body.commands, place, "subshell", source), flow: same(place.folders) };
      case "BraceGroup":
        return statements(node.body.commands, place, "group", source);
      case "CompoundList":
        return statements(node.commands, place, "list", source);
      case "Redirected": {
        const { part, flow } = walk(node.command, place);
        return { part: group("redirected", source, [part, ...redirections(node.redirects, place)]), flow };
      }
      case "If": {
        const branches = [node, ...node.elif].map(({ clause, then }) => [clause, then]);
        return sequence("if", source, [...branches.flat(), ...(node.else === undefined ? [] : [node.else])], place);
      }
      case "While":
        moved.overlaps();
        return repeated(source, place.folders, (folders) =>
          sequence("round", source, [node.clause, node.body], { ...place, folders }),
        );
      case "For":
        return loop(node, place);
      case "Case": {
        const words = [node.word, ...node.items.flatMap(({ pattern }) => pattern)].flatMap((word) =>
          inside(word, place),
        );
        const arms = sequence(
          "case",
          source,
          node.items.map(({ body }) => body),
          place,
        );
        return { part: group("case", source, [...words, arms.part]), flow: arms.flow };
      }
      case "TestCommand":
        return { part: group("test", source, inside(node, place)), flow: same(place.folders) };
      default:
        return { part: notKnown(node, place, source), flow: same(undefined) };
    }
  }

  /** Nodes that are searched for commands, but never harmless. */
  function notKnown(node: SyntaxNode, place: Place, source: string): CommandPart {
    moved.overlaps();
    const parts: CommandPart[] = [];
    forEachChild(node, (child) => parts.push(...(isCommand(child) ? [walk(child, place).part] : inside(child, place))));
    const why = `uses ${node.type}, which is not followed`;
    return classed(group(node.type, source, parts), "high", "unknown-node", why);
  }

  /** Consecutive lists, each of which may or may not run. */
  function sequence(kind: string, source: string, lists: readonly SyntaxNode[], place: Place): Walked {
    let folders = place.folders;
    const parts = lists.map((list) => {
      const { part, flow } = walk(list, { ...place, folders });
      folders = either(folders, eitherOf(flow));
      return part;
    });
    return { part: group(kind, source, parts), flow: same(folders) };
  }

  function loop(node: SyntaxNode & { type: "For" }, place: Place): Walked {
    moved.overlaps();
    const source = sourceOf(node, place);
    const name = node.name.value;
    const words = node.wordlist ?? [];
    const listed = words.flatMap((word) => values(word, place));
    const before = words.flatMap((word) => inside(word, place));
    // A pattern reveals file names, whatever is done with them.
    const patterns = listed.filter(({ kind }) => kind === "pattern");
    const shownNames = patterns.flatMap((arg) => touchesOf(arg, "read", "read", place) ?? []);
    const isDangerous = variableRisk(name, undefined) === "dangerous" || !/^[A-Za-z_]\w*$/.test(name);
    const rounds: readonly (Arg | undefined)[] =
      listed.length === 0 || listed.length > mostLoopWords ? [undefined] : listed;
    const walked = repeated(source, place.folders, (folders) => {
      const parts = rounds.map((value) => {
        // One match of a pattern at a time.
        hasValues ||= value !== undefined;
        bindings.bind(name, value?.kind === "pattern" ? { ...value, single: true } : value);
        return walk(node.body, { ...place, folders });
      });
      const after = parts.reduce<Folders>((all, { flow }) => either(all, eitherOf(flow)), folders);
      const walkedParts = parts.map(({ part }) => part);
      return { part: group("rounds", source, walkedParts), flow: same(after) };
    });
    bindings.forget(name);
    const part = { ...group("loop", source, [...before, walked.part]), touches: [setting(name), ...shownNames] };
    const judged = isDangerous ? classed(part, "high", "dangerous-variable", `sets ${name}`) : part;
    return { part: judged, flow: walked.flow };
  }

  function andOr(node: SyntaxNode & { type: "AndOr" }, place: Place): Walked {
    const [first, ...rest] = node.commands;
    if (first === undefined)
      return { part: unreadable(sourceOf(node, place), "has an empty list"), flow: same(undefined) };
    let { part, flow } = walk(first, place);
    const parts = [part];
    for (const [index, command] of rest.entries()) {
      ({ part, flow } = joined(flow, node.operators[index] ?? "", (folders) => walk(command, { ...place, folders })));
      parts.push(part);
    }
    return { part: group("list", sourceOf(node, place), parts), flow };
  }

  function pipeline(node: SyntaxNode & { type: "Pipeline" }, place: Place): Walked {
    const [first] = node.commands;
    if (first !== undefined && node.commands.length === 1) {
      const { part, flow } = walk(first, place);
      return { part, flow: same(eitherOf(flow)) };
    }
    moved.overlaps();
    let input: Printed | undefined;
    const parts = node.commands.map((command, index) => {
      const walked = walk(command, { ...place, input });
      input = node.operators[index] === "|&" ? undefined : walked.prints;
      return walked.part;
    });
    return { part: group("pipeline", sourceOf(node, place), parts), flow: same(place.folders), prints: input };
  }

  function simple(node: Command, place: Place): Walked {
    const source = sourceOf(node, place);
    const assigned = node.prefix
      .filter((entry) => entry.type === "Assignment")
      .map((entry) => assignment(entry, place, node.name?.value));
    const parts = [
      ...assigned.map(({ part }) => part),
      ...[node.name, ...node.args].flatMap((word) => (word === undefined ? [] : inside(word, place))),
      ...redirections(node.redirects, place),
    ];
    if (node.name === undefined) return { part: group("command", source, parts), flow: same(place.folders) };
    const args = [node.name, ...node.args].flatMap((word) => argument(word, place));
    args.forEach(count);
    const given = assigned.flatMap(({ gives }) => gives);
    const where = around(given.length === 0 ? place : { ...place, variables: [...place.variables, ...given] });
    const { part, flow, prints } = walkWords(args, source, where, place.depth, reader);
    // Error messages must not count as paths.
    const isQuiet = node.redirects.every((entry) => /^2>\s*\/dev\/null$/.test(sourceOf(entry, place)));
    return { part: { ...part, parts: [...parts, ...part.parts] }, flow, prints: isQuiet ? prints : undefined };
  }

  function around(place: Place): Surroundings {
    const variables = exported.size === 0 ? place.variables : [...place.variables, ...exported];
    return { folders: place.folders, home, input: place.input, variables };
  }

  function substitution(node: ParsedScript, place: Place): Walked {
    const [only, ...more] = node.commands;
    const isSingle = only?.command.type === "Command" && more.length === 0;
    const joinsDocuments = place.joinsDocuments === true || !isSingle;
    return script(node, { ...place, input: undefined, joinsDocuments, isTop: false }, "substitution");
  }

  /** What a word may expand to. A substitution is known if its command prints only paths. */
  function values(word: Word, place: Place): readonly Arg[] {
    const [only, ...more] = word.parts ?? [];
    const [quoted, ...rest] = only?.type === "DoubleQuoted" ? only.parts : [];
    const sole = more.length > 0 || rest.length > 0 ? undefined : (quoted ?? only);
    if (sole?.type === "CommandExpansion" && sole.script !== undefined) {
      const { part, prints } = substitution(sole.script, place);
      const revision = printedRevision(part.parts);
      if (revision !== undefined) return [{ kind: "text", value: revision, disguised: true }];
      if (prints !== undefined && quoted === undefined) return [{ kind: "input", printed: prints, asWords: true }];
    }
    return evaluate(word, bindings.in(place.folders));
  }

  function argument(word: Word | Assignment, place: Place): readonly Arg[] {
    if (word.type === "Word") return values(word, place);
    const isPlain = word.value.type === "Word" && word.index === undefined;
    const [value] = isPlain && word.value.type === "Word" ? values(word.value, place) : [];
    return [assigning(word.name, word.append === true, value)];
  }

  /** `gives`: the variable set for the following command, unless it is known to be harmless. */
  function assignment(node: Assignment, place: Place, program: string | undefined): Assigned {
    const { name, index, append, value } = node;
    const part = classed(group("assignment", node.text, inside(node, place)), "read", "assignment", `sets ${name}`);
    const isPlain = index === undefined && append !== true && value.type === "Word";
    const isKnown = isPlain && !value.text.includes("{");
    const values = isKnown ? evaluate(value, bindings.in(place.folders)) : [];
    if (program === undefined) {
      const bound = place.isTop === true && values.length === 1 ? values[0] : undefined;
      hasValues ||= bound !== undefined;
      bindings.bind(name, bound);
    }
    // Here IFS only affects how `read` splits a line.
    const isForRead = name === "IFS" && program === "read";
    const set = textOf(values[0]);
    const risk = index !== undefined ? "dangerous" : isForRead ? "harmless" : variableRisk(name, set);
    const why = `sets ${name}, which can make programs run other programs`;
    if (risk === "dangerous") return { part: classed(part, "high", "dangerous-variable", why), gives: [] };
    if (risk === "harmless") return { part, gives: [] };
    if (program === undefined) return { part: { ...part, touches: [setting(name)] }, gives: [] };
    return { part: { ...part, touches: suspects(values, around(place)) }, gives: [name] };
  }

  function redirections(list: readonly Redirection[], place: Place): readonly CommandPart[] {
    return list.map((node) => {
      const words = node.type === "HereDoc" ? (node.body.parts ?? []) : node.target === undefined ? [] : [node.target];
      const parts = words.flatMap((word) => inside(word, place));
      const part = classed(
        group("redirection", sourceOf(node, place), parts),
        "read",
        "redirection",
        "redirects its input",
      );
      if (node.descriptor?.type === "FileDescriptorVariable") {
        return classed(part, "high", "sets-variable", "sets a variable with a redirection");
      }
      if (node.type === "HereDoc") {
        const why = unclearDocument(node, place.source, place.joinsDocuments);
        return why === undefined ? part : classed(part, "high", "unreadable", why);
      }
      if (node.type !== "Redirect") return part;
      const targets = node.target === undefined ? [] : evaluate(node.target, bindings.in(place.folders));
      return moved.guard(judgeRedirect(part, node, targets, place.folders));
    });
  }

  /** Everything inside a word that runs or is evaluated. */
  function inside(node: SyntaxNode, place: Place): readonly CommandPart[] {
    count();
    const source = sourceOf(node, place);
    const parts: CommandPart[] = [];
    if (node.type === "Word" && hasTooManyWords(node)) {
      return [unreadable(source, "has braces that expand to too many words")];
    }
    if (runsScript(node)) {
      if (node.type === "ProcessSubstitution") {
        // Bash includes adjacent text in the word. The parser does not, and then reads the rest differently.
        const around = `${place.source[node.pos - 1] ?? " "}${place.source[node.end] ?? " "}`;
        if (!/^[\s(;&|][\s);&|<>]$/.test(around))
          return [unreadable(source, "has a substitution in the middle of a word")];
      }
      const isClear = node.script !== undefined && !/^[$<>]\(\(|^>|^`[\s\S]*[\\'"$]/.test(source);
      if (node.script === undefined || !isClear)
        return [unreadable(source, "has a substitution that cannot be parsed")];
      moved.overlaps();
      parts.push(substitution(node.script, place).part);
    } else forEachChild(node, (child) => parts.push(...inside(child, place)));
    const why = evaluates(node);
    if (why !== undefined) parts.push(classed(group("expansion", source, []), "high", "evaluation", why));
    return parts;
  }

  return { text, isDoubtful: () => trustsVariables && hasTexts && hasValues };
}
