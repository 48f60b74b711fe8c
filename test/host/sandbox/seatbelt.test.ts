import { expect, test } from "vitest";
import { seatbeltProfile } from "../../../src/host/sandbox/seatbelt.ts";

const base = seatbeltProfile({ network: "host", mounts: [] });

test("a profile opens and closes places in the order of the walls, the content of a folder last", () => {
  const profile = seatbeltProfile({
    network: "session",
    mounts: [
      { path: "/Users/ada/project", as: "write" },
      { path: "/Users/ada/project/a", as: "anchor" },
      { path: "/Users/ada/project/a/.git", as: "read" },
      { path: "/Users/ada/.ssh", as: "empty folder" },
      { path: '/Users/ada/.ne"t\\rc', as: "empty file" },
    ],
  });
  expect(profile.startsWith(`${base}\n`)).toBe(true);
  expect(profile.slice(base.length + 1).split("\n")).toEqual([
    "(deny network*)",
    '(allow file-read* file-write* (subpath "/Users/ada/project"))',
    '(deny file-write-unlink (literal "/Users/ada/project/a"))',
    '(deny file-write* (subpath "/Users/ada/project/a/.git"))',
    '(allow file-read* (subpath "/Users/ada/project/a/.git"))',
    '(deny file-read* file-write* (subpath "/Users/ada/.ssh"))',
    '(deny file-read* file-write* (subpath "/Users/ada/.ne\\"t\\\\rc"))',
  ]);
});

test("without walls, a profile makes the disk read-only and leaves the network open", () => {
  const rules = base.split("\n");
  expect(rules.slice(0, 2)).toEqual(["(version 1)", "(allow default)"]);
  expect(rules).toContain("(deny file-write*)");
  expect(base).not.toContain("network");
});
