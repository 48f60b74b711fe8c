import type { AccessClass, CommandPart, Lookup, Touch } from "../engine/permission.ts";
import { lookupKey } from "../engine/permission.ts";

/** Something that cannot be examined. Its words may be anything. */
export function unreadable(source: string, why: string): CommandPart {
  return { ...group("unreadable", source, []), class: "high", rule: "unreadable", why, words: [undefined] };
}

/** A node that does only what its parts do. */
export function group(kind: string, source: string, parts: readonly CommandPart[]): CommandPart {
  return { kind, source, class: "read", rule: "parts", why: "does only what its parts do", touches: [], parts };
}

export function classed(part: CommandPart, accessClass: AccessClass, rule: string, why: string): CommandPart {
  return { ...part, class: accessClass, rule, why };
}

export function inBackground(part: CommandPart): CommandPart {
  return classed(group("background", part.source, [part]), "medium", "background", "runs in the background");
}

/** The lookups needed to judge a part and further touches, without duplicates. */
export function lookupsOf(root: CommandPart, more: readonly Touch[] = []): readonly Lookup[] {
  const lookups = new Map<string, Lookup>();
  const collect = ({ touches, parts }: CommandPart): void => {
    for (const { lookup } of touches) lookups.set(lookupKey(lookup), lookup);
    parts.forEach(collect);
  };
  collect(root);
  for (const { lookup } of more) lookups.set(lookupKey(lookup), lookup);
  return [...lookups.values()];
}
