import { expect, test } from "vitest";
import type { Containment } from "../../../src/engine/containment.ts";
import { sandboxNote } from "../../../src/tools/execute/sandbox-note.ts";

const walls: Containment = {
  writable: ["/tmp/s", "/ws"],
  barred: ["/ws/.git/config", "/ws/.mcp.json", "/home/ada/.gradle/init.gradle"],
  hidden: ["/home/ada/.ssh"],
  ...{ repositories: [], newFolders: [], unwanted: [], runsHooks: true, caches: [], outputs: [], kept: [], shown: [] },
  network: "session",
  processes: "own",
};

/** What the model reads as the cause. */
const cause = (output: string) => /in a sandbox: (.*?)\. Run/.exec(sandboxNote(output, walls) ?? "")?.[1];

test.each([
  ["OSError: [Errno 30] Read-only file system: '/etc/x'", "it can write only /ws and $TMPDIR"],
  ["curl: (6) Could not resolve host: example.com", "it has no network and cannot reach ports of this machine"],
  ["cat: /home/ada/.ssh/id: No such file or directory", "/home/ada/.ssh is hidden from it"],
  ["mount: /mnt: Operation not permitted", "it has no special rights"],
  ["error: could not write config file .git/config: Device or resource busy", ".git/config is protected from it"],
  ["/bin/bash: line 1: .mcp.json: Is a directory", ".mcp.json is protected from it"],
  ["EEXIST: file exists, mkdir '/home/ada/.gradle/init.gradle'", "/home/ada/.gradle/init.gradle is protected from it"],
])("names the wall behind %s", (output, expected) => {
  expect(cause(output)).toBe(expected);
});

test.each(["AssertionError: 1 != 2", "cat: notes: Is a directory", "wrote .mcp.json\nPermission denied"])(
  "does not blame the sandbox for %s",
  (output) => {
    expect(sandboxNote(output, walls)).toBe(undefined);
  },
);
