import { normalize } from "node:path/posix";
import { expect, test } from "vitest";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { isFullRun } from "../full-run.ts";
import { createContext } from "../tools/call.ts";
import { contents, patch } from "../tools/patch/patch-support.ts";
import { firstSeed, mutateBytes } from "./mutate.ts";

const rounds = isFullRun ? 20_000 : 500;

const files = {
  "/project/a": "one\ntwo\nthree\n",
  "/project/b/c": "x\ny\n",
  "/project/d": "gone\n",
  "/project/e": "stays\n",
};
const parts: readonly (readonly string[])[] = [
  ["*** Update File: a", "@@", " one", "-two", "+2", " three"],
  ["*** Update File: b/c", "*** Move to: b/moved", "@@ x", "-y", "+z"],
  ["*** Delete File: d"],
  ["*** Add File: new/f", "+hello", "+"],
  ["*** Update File: /project/a", " three", "+four", "*** End of File"],
];

/** Every path in a header, whatever else is wrong. */
function named(text: string): readonly string[] {
  return [...text.matchAll(/\*\*\* (?:Add File|Update File|Delete File|Move to):([^\n]*)/g)].map(([, path = ""]) =>
    normalize(path),
  );
}

test(`${rounds} mutated patches change only what they name and what was decided on`, {
  timeout: 600_000,
}, async () => {
  const seen: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    const seed = firstSeed + round;
    const random = randomFrom(seed);
    const whole = patch(...parts.filter(() => random.chance(0.6)).flat());
    const text = (random.chance(0.9) ? mutateBytes(random, Buffer.from(whole)) : Buffer.from(whole)).toString();
    const host = createMemoryHost(files);
    const context = createContext(host);
    const before = await contents(host);
    const input = applyPatchTool.input.parse({ input: text });
    const accesses = await applyPatchTool.access(input, context);
    const { status } = await applyPatchTool.run(input, { ...context, accesses });
    const after = await contents(host);
    const touched = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
    const written = accesses.flatMap((access) => (access.type === "write" ? [access.path] : []));
    const isAllowed = touched.every(
      (path) => written.includes(`/project/${path}`) && named(text).some((name) => name.includes(path)),
    );
    expect({ seed, text, isAllowed, touched: status === "ok" || touched.length === 0 }).toEqual({
      seed,
      text,
      isAllowed: true,
      touched: true,
    });
    seen[status] = (seen[status] ?? 0) + 1;
  }
  expect(seen).toEqual({ ok: expect.any(Number), failed: expect.any(Number) });
});
