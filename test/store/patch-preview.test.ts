import { expect, it } from "vitest";
import type { Preview } from "../../src/core/permission.ts";
import { decodeRecord } from "../../src/store/records.ts";

const preview: Preview = {
  type: "patch",
  patch: "*** Begin Patch\n*** End Patch",
  files: [
    { path: "/a", movedTo: "/b", change: "update", oldContent: "1", newContent: "2" },
    { path: "/c", change: "add" },
    { path: "/d", change: "delete", oldContent: "" },
  ],
};

function recordWith(shown: unknown): unknown {
  return {
    seq: 2,
    at: 1,
    type: "request.opened",
    requestId: "r1",
    interaction: {
      kind: "permission",
      calls: [
        {
          call: { type: "tool_call", id: "c1", name: "ApplyPatch", input: { input: "" } },
          decision: {
            verdict: "ask",
            class: "low",
            impact: "low",
            extractedCommands: [],
            rule: "level",
            why: "Asked.",
          },
          preview: shown,
        },
      ],
    },
  };
}

const kindOf = (shown: unknown) => decodeRecord(JSON.stringify(recordWith(shown)), "s1").kind;

it("the preview of a patch is read back as it was written", () => {
  const record = recordWith(preview);
  expect(decodeRecord(JSON.stringify(record), "s1")).toMatchObject({ kind: "event", event: record as object });
});

it.each([
  ["no patch", { ...preview, patch: undefined }],
  ["no files", { ...preview, files: undefined }],
  ["files that are no list", { ...preview, files: {} }],
  ["a file without a path", { ...preview, files: [{ change: "add" }] }],
  ["a file without a change", { ...preview, files: [{ path: "/a" }] }],
  ["a change that is none", { ...preview, files: [{ path: "/a", change: "move" }] }],
  ["a target that is no text", { ...preview, files: [{ path: "/a", change: "update", movedTo: 1 }] }],
  ["old content that is no text", { ...preview, files: [{ path: "/a", change: "update", oldContent: 1 }] }],
  ["new content that is no text", { ...preview, files: [{ path: "/a", change: "update", newContent: null }] }],
])("a record is damaged when its patch has %s", (_, shown) => {
  expect(kindOf(shown)).toBe("damaged");
});
