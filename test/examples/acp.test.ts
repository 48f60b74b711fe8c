import { existsSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { createBench } from "../e2e/tinman.ts";

const file = resolve("examples/acp/client.mjs");

describe("the example editor", () => {
  it.each([
    ["Tinman", []],
    ["another backend", ["tinman", "acp", "--backend", "droid"]],
  ])("lets %s change a file", async (_, command) => {
    const bench = await createBench();
    try {
      await symlink(join(bench.root, "bin", "tinman"), join(bench.root, "bin", "droid"));
      const prompt = "create file hello.txt with Hello!";
      const words = [prompt, ...command].map((word) => `'${word}'`).join(" ");
      const { code, stdout, stderr } = await bench.shell(`"${process.execPath}" "${file}" ${words}`);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: shown(), stderr: "" });
      expect(await bench.read("hello.txt")).toBe("Hello!");
    } finally {
      await bench.remove();
    }
  });

  it("does not let it run anything", async () => {
    const bench = await createBench();
    try {
      const { stdout } = await bench.shell(`"${process.execPath}" "${file}" 'run \`touch a.txt\`'`);
      expect(stdout).toBe(
        "I'll run `touch a.txt`.\n[execute] touch a.txt\n[asked] touch a.txt: reject_once\n[failed]\n\nend_turn\n",
      );
      expect(existsSync(join(bench.cwd, "a.txt"))).toBe(false);
    } finally {
      await bench.remove();
    }
  });

  it("has the number of lines that its page states", () => {
    expect(readFileSync(file, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });
});

/** As shown on the page. */
function shown(): string {
  const page = readFileSync("docs/acp.md", "utf8");
  const [, text = ""] = /node client\.mjs[\s\S]*?```text\n([\s\S]*?)```/.exec(page) ?? [];
  return text;
}
