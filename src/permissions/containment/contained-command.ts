import type { Containment } from "../../engine/containment.ts";
import type { DecisionContext, Evidence, JudgedPart } from "../../engine/permission.ts";
import { worse } from "../autonomy.ts";
import { liesIn } from "../places/path-names.ts";
import { isContainable, type Piece, piecesOf } from "./containable.ts";
import { isLocalRequest, needOf } from "./needs.ts";
import { wallsFor } from "./walls.ts";

export interface ContainedCommand {
  /** With `medium` instead of `high` for parts that are not understood. */
  readonly judged: JudgedPart;
  readonly walls: Containment;
}

/**
 * How a command is contained; `undefined` if it runs with all rights of the user, because it needs to leave: then its
 * classes stay as they are.
 */
export function containedCommand(
  { reading, found }: Evidence,
  judged: JudgedPart,
  context: DecisionContext,
): ContainedCommand | undefined {
  const { autonomy, sandbox, cwd, home } = context;
  // Everything in the workspace can be written. If the workspace holds everything, walls are useless.
  const holdsHome = liesIn(home, cwd, context.foldsCase);
  if (sandbox === undefined || (holdsHome && cwd !== home)) return undefined;
  if (autonomy === "high" && !sandbox.isRequired) return undefined;
  const pieces = piecesOf(reading.root, judged);
  const isTrusted = pieces.some((piece) => piece.judged.rule === "allow-rule");
  if (isTrusted || pieces.some((piece) => piece.judged.protected)) return undefined;
  const unknown = pieces.filter((piece) => piece.judged.class === "high");
  if (!unknown.every((piece) => isContainable(piece) || isForServers(piece, sandbox.hasServers))) return undefined;
  const isUnknown = unknown.some((piece) => !isForServers(piece, sandbox.hasServers));
  // In a home, it could create the start-up file of any program.
  if (isUnknown && holdsHome) return undefined;
  if (isUnknown && pieces.some(({ part }) => needOf(part.words ?? [])?.downloads === true)) return undefined;
  if (!sandbox.isRequired && unknown.length === 0 && looksOutside(pieces, sandbox.hasServers)) return undefined;
  const lowered = unknown.length === 0 ? judged : withoutHigh(judged);
  const own = pieces.map((piece) => piece.judged.class).reduce(worse, "read");
  const walls = wallsFor(pieces, { context, sandbox, found, class: own, isUnknown });
  return { judged: lowered, walls };
}

/** A signal or a request that reaches the session's own servers only. */
function isForServers({ part, judged }: Piece, hasServers: boolean): boolean {
  if (!hasServers) return false;
  const isRequest = /^row (?:curl|wget)\b/.test(judged.rule) && isLocalRequest(part.words ?? []);
  return isRequest || /^row (?:kill|pkill|killall)\b/.test(judged.rule);
}

/** Whether a proven command is about the machine itself, and does little else. */
function looksOutside(pieces: readonly Piece[], hasServers: boolean): boolean {
  const calls = pieces.filter(({ part }) => part.words !== undefined);
  const isMachine = ({ part }: Piece): boolean => {
    const need = needOf(part.words ?? []);
    return need?.machine === true || (need?.processes === true && !hasServers);
  };
  return calls.some(isMachine) && calls.every((piece) => isMachine(piece) || /^(?:read|low)$/.test(piece.judged.class));
}

function withoutHigh(part: JudgedPart): JudgedPart {
  const parts = part.parts.map(withoutHigh);
  return part.class === "high" ? { ...part, class: "medium", contained: true, parts } : { ...part, parts };
}
