import type { Touch } from "../../engine/permission.ts";
import type { Arg } from "../programs/arg.ts";
import { lossesOf, touchesOf } from "../programs/touches.ts";
import type { Folders } from "../shell/folders.ts";
import type { Reader } from "./state.ts";

type Listing = Pick<Reader, "listed">;

const mostListed = 40;

/** Notes the effect of deleting names that are used somewhere else. */
export function noteNames({ listed }: Listing, lists: readonly Touch[]): void {
  if (listed.length <= mostListed) listed.push(...lists);
}

/** The same for the names that patterns match. */
export function notePatterns(reader: Listing, args: readonly Arg[], folders: Folders): void {
  for (const arg of args) {
    if (arg.kind !== "pattern") continue;
    const touches = touchesOf(arg, "write", "read", { folders }, true) ?? [];
    noteNames(
      reader,
      touches.flatMap((touch) => [{ ...touch, moves: true }, ...lossesOf(touch)]),
    );
  }
}
