import { expect, it } from "vitest";
import type { Preview } from "../../src/engine/permission.ts";
import { decodeRecord } from "../../src/store/records/records.ts";

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

it("reads a patch preview back unchanged", () => {
  const record = recordWith(preview);
  expect(decodeRecord(JSON.stringify(record), "s1")).toMatchObject({ kind: "event", event: record as object });
});

it.each([
  ["no patch", { ...preview, patch: undefined }],
  ["no files", { ...preview, files: undefined }],
  ["files that are not a list", { ...preview, files: {} }],
  ["a file without a path", { ...preview, files: [{ change: "add" }] }],
  ["a file without a change", { ...preview, files: [{ path: "/a" }] }],
  ["an unknown change", { ...preview, files: [{ path: "/a", change: "move" }] }],
  ["a target that is not text", { ...preview, files: [{ path: "/a", change: "update", movedTo: 1 }] }],
  ["old content that is not text", { ...preview, files: [{ path: "/a", change: "update", oldContent: 1 }] }],
  ["new content that is not text", { ...preview, files: [{ path: "/a", change: "update", newContent: null }] }],
])("reports a record as damaged if its patch has %s", (_, shown) => {
  expect(kindOf(shown)).toBe("damaged");
});

it.each([[{}], [{ always: "low" }], [{ always: "medium" }], [{ always: "high" }]])(
  "reads a decision back unchanged: %j",
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
])("reports a record with %j, %j as damaged", (shown, decided) => {
  expect(decodeRecord(JSON.stringify(recordWith(shown, decided)), "s1").kind).toBe("damaged");
});
