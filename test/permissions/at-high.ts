import type { Access, DecisionContext } from "../../src/engine/permission.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";

/** Decisions at the highest level, without an approver. */
export const policy = createPermissionPolicy(() => "bash");

export const context: DecisionContext = {
  tool: "T",
  autonomy: "high",
  mode: "auto",
  cwd: "/ws",
  readable: ["/ws/keys/outputs"],
  home: "/home/u",
  temp: "/tmp",
  ownHome: "/home/u/.tinman",
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: false,
  unsafe: false,
  enabledTools: ["T"],
};

export function rule(access: Access, changes: Partial<DecisionContext> = {}): string {
  const { verdict, rule } = policy.decide([access], { ...context, ...changes });
  return `${verdict} ${rule}`;
}
export const reading = (path: string, changes: Partial<DecisionContext> = {}) => rule({ type: "read", path }, changes);
export const writing = (path: string, changes: Partial<DecisionContext> = {}) => rule({ type: "write", path }, changes);

export const closed = "deny protected-place";
