import type { ParsedScript } from "unbash";
import type { DecisionContext, Touch } from "../../engine/permission.ts";
import type { Surroundings } from "../judgement.ts";
import type { MovedPaths } from "../places/moved-paths.ts";
import { escaped, type Printed } from "../programs/arg.ts";
import type { Folders } from "../shell/folders.ts";
import type { Bindings } from "./bindings.ts";
import type { Walked } from "./flow.ts";

/** A node's context. */
export interface Place {
  readonly folders: Folders;
  /** The text that node positions point into. */
  readonly source: string;
  readonly input?: Printed | undefined;
  /** How deeply this text is nested in other texts. */
  readonly depth: number;
  /** At the top level of the command list, where it always runs. */
  readonly isTop?: boolean;
  /** Another part of the command gets its output. */
  readonly isUsed?: boolean;
  /** Inside a substitution with several commands, where bash may join a here-document to the next one. */
  readonly joinsDocuments?: boolean;
  /** Variables set for all its commands that are not known to be harmless. */
  readonly variables: readonly string[];
}

export interface ReaderParts {
  readonly places: Pick<DecisionContext, "cwd" | "home">;
  readonly moved: MovedPaths;
  /** Whether values of variables that the command sets count as known. */
  readonly trustsVariables: boolean;
  /** Variables that the command exports anywhere: every part may see them. */
  readonly exported: Set<string>;
  onProgram(name: string): void;
}

/** State shared by a walk through a command. */
export interface Reader extends ReaderParts {
  /** Patterns for the folders that the shell may be in, wherever a `cd` leads somewhere unknown. */
  readonly near: string[];
  /** The same if such a `cd` fails, or its unknown words expand to nothing. */
  readonly fallback: string[];
  /** The effect if a program deletes the names that another part prints. */
  readonly listed: Touch[];
  /** The known variables of the text that is being walked. */
  bindings: Bindings;
  hasTexts: boolean;
  hasValues: boolean;
  /** Counts a node or a word. Throws `TooMuch` if there are too many. */
  count(): void;
  /** Parses and judges a text as a shell script. */
  text(command: string, around: Surroundings, depth: number): Walked;
  script(node: ParsedScript, place: Place, kind: string): Walked;
}

export function around({ places, exported, near, fallback }: Reader, place: Place): Surroundings {
  const variables = exported.size === 0 ? place.variables : [...place.variables, ...exported];
  const known = fallback.length === 0 ? [...near, escaped(places.cwd)] : [...near, ...fallback];
  return { folders: place.folders, home: places.home, near: known, entered: near, input: place.input, variables };
}

const mostNear = 8;

/** Adds patterns for folders that the shell may be in. */
export function note(list: string[], patterns: readonly string[]): void {
  for (const pattern of patterns) if (list.length < mostNear && !list.includes(pattern)) list.push(pattern);
}
