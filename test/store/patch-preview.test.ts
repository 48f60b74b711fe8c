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

function recordWith(shown: unknown, decided: object = {}): unknown {
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
            ...decided,
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

it.each([[{}], [{ always: "low" }], [{ always: "medium" }], [{ always: "high" }]])(
  "what an approver saw is read back: %j",
  (decided) => {
    const record = recordWith({ type: "paths", paths: ["/etc/hosts", "/a"] }, decided);
    expect(decodeRecord(JSON.stringify(record), "s1")).toMatchObject({ kind: "event", event: record as object });
  },
);

it.each([
  [{ type: "paths" }, {}],
  [{ type: "paths", paths: "/a" }, {}],
  [{ type: "paths", paths: [1] }, {}],
  [{ type: "paths", paths: [] }, { always: "off" }],
  [{ type: "paths", paths: [] }, { always: true }],
])("a record is damaged with %j, %j", (shown, decided) => {
  expect(decodeRecord(JSON.stringify(recordWith(shown, decided)), "s1").kind).toBe("damaged");
});
