import { type Assignment, forEachChild, type ParsedScript, type SyntaxNode, type Word } from "unbash";
import type { CommandPart } from "../../engine/permission.ts";
import { classed, group, unreadable } from "../parts.ts";
import type { Arg } from "../programs/arg.ts";
import { printedRevision } from "../programs/printed-paths.ts";
import { hasTooManyWords } from "../shell/brace-count.ts";
import { evaluates } from "../shell/evaluation.ts";
import { assigning, evaluate } from "../shell/shell-words.ts";
import type { Walked } from "./flow.ts";
import { runsScript, sourceOf } from "./nodes.ts";
import { noteNames, notePatterns } from "./noted-names.ts";
import type { Place, Reader } from "./state.ts";

/** Everything inside a word that runs or is evaluated. */
export function inside(reader: Reader, node: SyntaxNode, place: Place): readonly CommandPart[] {
  reader.count();
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
    if (node.script === undefined || !isClear) return [unreadable(source, "has a substitution that cannot be parsed")];
    reader.moved.overlaps();
    parts.push(substitution(reader, node.script, place).part);
  } else forEachChild(node, (child) => parts.push(...inside(reader, child, place)));
  const why = isNumber(reader, node, place) ? undefined : evaluates(node);
  if (why !== undefined) parts.push(classed(group("expansion", source, []), "high", "evaluation", why));
  return parts;
}

/** A variable in arithmetic whose value is known to be a number, so that nothing in it can run. */
function isNumber({ bindings }: Reader, node: SyntaxNode, { folders }: Place): boolean {
  if (node.type !== "ArithmeticWord") return false;
  const name = /^\$?([a-z_]\w*)$|^\$\{(\w+)\}$/i.exec(node.value)?.slice(1).find(Boolean);
  const value = name === undefined ? undefined : bindings.in(folders)(name);
  return value?.kind === "text" && /^\d{1,9}$/.test(value.value);
}

function substitution(reader: Reader, node: ParsedScript, place: Place): Walked {
  const [only, ...more] = node.commands;
  const isSingle = only?.command.type === "Command" && more.length === 0;
  const joinsDocuments = place.joinsDocuments === true || !isSingle;
  const inner = { ...place, input: undefined, joinsDocuments, isTop: false, isUsed: true };
  const walked = reader.script(node, inner, "substitution");
  noteNames(reader, walked.lists ?? []);
  return walked;
}

/** The possible expansions of a word. A substitution is known if its command prints only paths. */
export function values(reader: Reader, word: Word, place: Place): readonly Arg[] {
  const [only, ...more] = word.parts ?? [];
  const [quoted, ...rest] = only?.type === "DoubleQuoted" ? only.parts : [];
  const sole = more.length > 0 || rest.length > 0 ? undefined : (quoted ?? only);
  if (sole?.type === "CommandExpansion" && sole.script !== undefined) {
    const { part, prints } = substitution(reader, sole.script, place);
    const revision = printedRevision(part.parts);
    if (revision !== undefined) return [{ kind: "text", value: revision, disguised: true }];
    if (prints !== undefined && quoted === undefined) return [{ kind: "input", printed: prints, asWords: true }];
  }
  return evaluate(word, reader.bindings.in(place.folders));
}

export function argument(reader: Reader, word: Word | Assignment, place: Place): readonly Arg[] {
  if (word.type === "Word") return values(reader, word, place);
  if (word.value.type !== "Word") {
    const listed = word.value.elements.flatMap((one) => evaluate(one, reader.bindings.in(place.folders)));
    notePatterns(reader, listed, place.folders);
  }
  const isPlain = word.value.type === "Word" && word.index === undefined;
  const [value] = isPlain && word.value.type === "Word" ? values(reader, word.value, place) : [];
  return [assigning(word.name, word.append === true, value)];
}
