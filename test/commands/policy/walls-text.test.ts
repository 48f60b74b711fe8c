import { expect, it } from "vitest";
import { wallsText } from "../../../src/commands/policy/walls-text.ts";
import type { Containment } from "../../../src/engine/containment.ts";

const walls: Containment = {
  writable: ["/tmp/s", "/project"],
  caches: [],
  repositories: [],
  newFolders: [],
  unwanted: [],
  runsHooks: true,
  outputs: [],
  kept: ["/project/.git"],
  barred: [],
  hidden: ["/home/u/.ssh"],
  shown: [],
  network: "session",
  processes: "own",
};

it.each<[Partial<Containment>, string]>([
  [{}, "no network; writes only below /project and $TMPDIR"],
  [{ writable: ["/tmp/s"] }, "no network; writes only $TMPDIR"],
  [
    { network: "host", caches: ["/home/u/.npm/_cacache", "/project"] },
    "with the network; writes only below /project, /home/u/.npm/_cacache and $TMPDIR",
  ],
  [
    { outputs: ["/var/tmp/a", "/var/tmp/b"] },
    "no network; writes only below /project and $TMPDIR, and the files /var/tmp/a, /var/tmp/b",
  ],
])("%j is shown as %j", (changes, text) => {
  expect(wallsText({ ...walls, ...changes })).toBe(text);
});
