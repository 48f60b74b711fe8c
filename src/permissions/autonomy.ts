import type { AccessClass } from "../engine/permission.ts";
import { accessClasses } from "../engine/permission.ts";
import type { Autonomy } from "../engine/settings.ts";

/** The highest class that runs unasked at each level. */
const runsUnasked: Readonly<Record<Autonomy, AccessClass>> = {
  off: "read",
  low: "low",
  medium: "medium",
  high: "high",
};

export function runsAt(level: Autonomy, accessClass: AccessClass): boolean {
  return rank(accessClass) <= rank(runsUnasked[level]);
}

export function worse(a: AccessClass, b: AccessClass): AccessClass {
  return rank(a) >= rank(b) ? a : b;
}

/** One class higher, for paths outside the workspace. */
export function raised(accessClass: AccessClass): AccessClass {
  return accessClasses[rank(accessClass) + 1] ?? "high";
}

function rank(accessClass: AccessClass): number {
  return accessClasses.indexOf(accessClass);
}
