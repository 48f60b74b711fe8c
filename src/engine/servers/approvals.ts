import type { ServerCall } from "../permission.ts";

/**
 * Server tools that the user always allows in this session. In memory only, and bound to marks of the server's entry and
 * the tool's definition, so that a change of either asks again.
 */
export class Approvals {
  private readonly marks = new Set<string>();

  add({ marks }: ServerCall, scope: "tools" | "server"): void {
    this.marks.add(scope === "server" ? marks.server : marks.tool);
  }

  get all(): ReadonlySet<string> {
    return this.marks;
  }
}
