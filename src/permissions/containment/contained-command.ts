import type { Containment } from "../../engine/containment.ts";
import type { DecisionContext, Evidence, JudgedPart } from "../../engine/permission.ts";
import { worse } from "../autonomy.ts";
import { liesIn } from "../places/path-names.ts";
import { isContainable, type Piece, picksNames, piecesOf } from "./containable.ts";
import { isLocalRequest, needOf } from "./needs.ts";
import { wallsFor } from "./walls.ts";

export interface ContainedCommand {
  /** The judgement with `medium` instead of `high` for parts with an unknown effect. */
  readonly judged: JudgedPart;
  readonly walls: Containment;
}

/**
 * How a command is contained, and its class then. `undefined` if it must run outside the sandbox, with all rights of the
 * user.
 */
export function containedCommand(
  { reading, found }: Evidence,
  judged: JudgedPart,
  context: DecisionContext,
): ContainedCommand | undefined {
  const { autonomy, sandbox, cwd, home } = context;
  // The workspace is writable, so walls are useless around a workspace that contains the home.
  const holdsHome = liesIn(home, cwd, context.foldsCase);
  if (sandbox === undefined || (holdsHome && cwd !== home)) return undefined;
  if (autonomy === "high" && !sandbox.isRequired) return undefined;
  const pieces = piecesOf(reading.root, judged);
  const isTrusted = pieces.some((piece) => piece.judged.rule === "allow-rule");
  if (isTrusted || pieces.some((piece) => piece.judged.protected)) return undefined;
  const unknown = pieces.filter((piece) => piece.judged.class === "high");
  if (!unknown.every((piece) => isContainable(piece) || isForServers(piece, sandbox.hasServers))) return undefined;
  const isUnknown = unknown.some((piece) => !isForServers(piece, sandbox.hasServers) && !picksNames(piece.judged));
  // In the home, an unknown program could create start-up files.
  if (isUnknown && holdsHome) return undefined;
  if (isUnknown && pieces.some(({ part }) => needOf(part.words ?? [])?.downloads === true)) return undefined;
  if (!sandbox.isRequired && unknown.length === 0 && looksOutside(pieces, sandbox.hasServers)) return undefined;
  const lowered = unknown.length === 0 ? judged : withoutHigh(judged);
  const own = pieces.map((piece) => piece.judged.class).reduce(worse, "read");
  const walls = wallsFor(pieces, { context, sandbox, found, class: own, isUnknown });
  return { judged: lowered, walls };
}

/** Whether a part only signals or queries the session's own servers. */
function isForServers({ part, judged }: Piece, hasServers: boolean): boolean {
  if (!hasServers) return false;
  const isRequest = /^row (?:curl|wget)\b/.test(judged.rule) && isLocalRequest(part.words ?? []);
  return isRequest || /^row (?:kill|pkill|killall)\b/.test(judged.rule);
}

/** Whether a proven command mainly inspects the machine itself, which the sandbox would hide. */
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
