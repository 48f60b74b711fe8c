import { expect, it } from "vitest";
import { permissionsText } from "../../src/permissions/permissions-text.ts";

const situation = { autonomy: "medium", mode: "auto", cwd: "/ws", canAsk: true, contained: true } as const;
const lines = (more: object = {}): readonly string[] => permissionsText({ ...situation, ...more }).split("\n");
const aboutSandbox = (more: object = {}) =>
  lines(more).filter((line) => /sandbox|other programs and scripts/.test(line));

it("tells the model what the sandbox changes, and only where its commands run in one", () => {
  expect(
    lines().map((line) => line.replace(/(?<=unasked: |permission: ).*?(?=other programs|git push)/, "…, ")),
  ).toEqual([
    "Permissions",
    "Workspace: /ws",
    "Level: medium",
    "Runs unasked: …, other programs and scripts.",
    "Needs permission: …, git push, other deletions, commands with riskLevel high; protected places (credentials, .git, start-up files of shells).",
    expect.stringMatching(/^Commands run in a sandbox\. They can write the workspace and \$TMPDIR/),
    "The user is asked for it when you make such a call.",
  ]);
  expect(aboutSandbox({ contained: false })).toEqual([expect.stringMatching(/^Needs permission: other programs and/)]);
  expect([aboutSandbox({ unsafe: true }), aboutSandbox({ mode: "spec" })]).toEqual([[], []]);
});
