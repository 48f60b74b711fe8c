import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { decisionOn } from "./class-of.ts";

interface Cases {
  readonly denied: readonly string[];
  readonly free: readonly string[];
}

const cases = parse(readFileSync(new URL("denied-programs.yaml", import.meta.url), "utf8")) as Cases;
const rules = { allow: [], deny: [["curl", "*"]], alwaysDeny: [] };

async function deniedAmong(commands: readonly string[]): Promise<readonly string[]> {
  const denied: string[] = [];
  for (const command of commands) {
    const { verdict, rule } = await decisionOn(command, { rules, autonomy: "high" });
    if (verdict === "deny" && rule === "deny-rule") denied.push(command);
  }
  return denied;
}

test("a deny rule sees the program that an option, a sub-command or code starts", async () => {
  expect(await deniedAmong(cases.denied)).toEqual(cases.denied);
});

test("a deny rule spares commands that only mention the program", async () => {
  expect(await deniedAmong(cases.free)).toEqual([]);
});
