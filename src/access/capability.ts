import type { SessionSettings } from "../engine/settings.ts";
import { DeniedError } from "./denied.ts";
import type { Identity, Role } from "./identity.ts";

export type Capability =
  /** View sessions, their events, and what the server offers. */
  | "read"
  /** Send, answer, interrupt and stop. */
  | "use"
  /** Start and fork sessions. */
  | "create"
  /** Change settings, titles and the tools that are offered. */
  | "configure"
  /** Read the server's metrics. */
  | "metrics"
  /** Name programs and files of the server's machine, and skip permission checks. */
  | "host";

interface Grant {
  readonly can: readonly Capability[];
  readonly sessions: "all" | "own";
}

/** A role that is missing here can do nothing. */
const grants: ReadonlyMap<Role, Grant> = new Map<Role, Grant>([
  ["admin", { can: ["read", "use", "create", "configure", "metrics", "host"], sessions: "all" }],
  ["user", { can: ["read", "use", "create", "configure"], sessions: "own" }],
  ["viewer", { can: ["read", "metrics"], sessions: "all" }],
]);

export function can({ role }: Pick<Identity, "role">, capability: Capability): boolean {
  return grants.get(role)?.can.includes(capability) ?? false;
}

/** `what` begins a sentence: "startSession", "A tool filter". */
export function checkCan(who: Identity, capability: Capability, what: string): void {
  if (can(who, capability)) return;
  throw new DeniedError("forbidden", `${what} needs the role ${holders(capability)}; this token has ${who.role}.`);
}

/** The roles that can, for people: "admin or user". */
export function holders(capability: Capability): string {
  return [...grants.keys()].filter((role) => can({ role }, capability)).join(" or ");
}

export function seesAll({ role }: Identity): boolean {
  return grants.get(role)?.sessions === "all";
}

/** To all other callers, the session does not exist. */
export function canOpen(who: Identity, { owner }: Pick<SessionSettings, "owner">, to: "read" | "use"): boolean {
  return can(who, to) && (seesAll(who) || owner === who.user);
}
