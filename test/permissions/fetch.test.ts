import { describe, expect, it } from "vitest";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { autonomyLevels } from "../../src/engine/settings.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";

const context: DecisionContext = {
  tool: "FetchUrl",
  autonomy: "off",
  mode: "auto",
  cwd: "/ws",
  readable: [],
  home: "/home/u",
  temp: "/tmp",
  ownHome: "/home/u/.tinman",
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: true,
  unsafe: false,
  enabledTools: [],
};
const policy = createPermissionPolicy(() => "bash");
const decide = (url: string, changes: Partial<DecisionContext> = {}) =>
  policy.decide([{ type: "fetch", url }], { ...context, ...changes });

describe("fetching", () => {
  it("is medium and runs unasked from that level", () => {
    expect(autonomyLevels.map((autonomy) => decide("https://example.com/", { autonomy }).verdict)).toEqual([
      "ask",
      "ask",
      "allow",
      "allow",
    ]);
    expect(decide("https://example.com/docs")).toEqual({
      verdict: "ask",
      class: "medium",
      impact: "medium",
      always: "medium",
      extractedCommands: [],
      rule: "fetch",
      why: "FetchUrl fetches https://example.com/docs.",
    });
  });

  it("is denied with a reason without an approver, and refused in spec mode at every level", () => {
    expect(decide("https://example.com/", { approver: false })).toMatchObject({
      verdict: "deny",
      rule: "fetch",
      why: "FetchUrl fetches https://example.com/. This run has no permission for that and no approver to ask.",
    });
    for (const changes of [{ autonomy: "high" }, { unsafe: true }, { enabledTools: ["FetchUrl"] }] as const)
      expect(decide("https://example.com/", { ...changes, mode: "spec" })).toMatchObject({
        verdict: "refuse",
        rule: "spec-mode",
        why: "Spec mode is active: FetchUrl fetches https://example.com/, and only reading is allowed until the plan is approved.",
      });
  });

  it("runs if the tool is allowed by name, or in an unsafe run", () => {
    const why = "FetchUrl is allowed by name for this run.";
    expect(decide("https://example.com/", { enabledTools: ["FetchUrl"], approver: false })).toMatchObject({
      verdict: "allow",
      rule: "enabled-tool",
      why,
    });
    expect(decide("https://example.com/", { unsafe: true }).verdict).toBe("allow");
  });

  it("is described without credentials, query, fragment or endless paths", () => {
    const why = (url: string): string => decide(url).why;
    expect(why("https://me:pass@example.com:8443/a/b?token=abc#frag")).toBe(
      "FetchUrl fetches https://example.com:8443/a/b?….",
    );
    expect(why(`http://example.com/${"p".repeat(1000)}`)).toBe(
      `FetchUrl fetches http://example.com/${"p".repeat(181)}….`,
    );
  });

  it("is high for an invalid or non-http address", () => {
    for (const url of ["nonsense", "ftp://example.com/", "file:///etc/passwd", ""])
      expect(decide(url)).toMatchObject({
        verdict: "ask",
        class: "high",
        why: "FetchUrl fetches an address that is not http or https.",
      });
  });
});
