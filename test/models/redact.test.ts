import { describe, expect, test } from "vitest";
import { redactor, shownUrl } from "../../src/models/redact.ts";

const key = "sk-proj-Abc123Def456Ghi789Jkl012";
const redact = redactor([key, undefined, "", "Bearer tok-98765432109876"]);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a secret is hidden", () => {
  test.each([
    ["as it is", `no: ${key}.`],
    ["in other letters", `no: ${key.toUpperCase()}.`],
    ["over two lines", `no: ${key.slice(0, 9)}\n  ${key.slice(9)}.`],
    ["in a URL", `no: https://x/?key=${encodeURIComponent(key)}&y=1.`],
    ["in base64", `no: ${base64(key)}.`],
    ["in base64 behind a name", `no: ${base64(`user:${key}`)}.`],
    ["in hexadecimal", `no: ${Buffer.from(key).toString("hex")}.`],
    ["cut at its end", `no: ${key.slice(0, -2)}`],
    ["cut at its beginning", `no: ${key.slice(8)}.`],
    ["in the middle of a word", `no: xx${key.slice(4, 20)}yy.`],
    ["of a header, without its first word", "no: tok-98765432109876."],
  ])("%s", (_, text) => {
    const shown = redact(text);
    expect(shown).toContain("[hidden]");
    expect(shown.startsWith("no: ")).toBe(true);
    for (let at = 0; at + 12 <= key.length; at += 1) expect(shown).not.toContain(key.slice(at, at + 12));
    expect(shown).not.toContain("98765432109876");
  });

  test.each(["", "u:", "me:", "user:", "a-name:"])("in base64 behind %j, to its last letter", (before) => {
    for (const coding of ["base64", "base64url"] as const) {
      const coded = Buffer.from(`${before}${key}`).toString(coding);
      const shown = redact(`no: ${coded} !`);
      expect(shown).toMatch(/^no: [A-Za-z0-9]*\[hidden\] !$/);
      // What is left holds nothing of the key.
      const left = Buffer.from(shown.slice(4, shown.indexOf("[")), "base64").toString();
      expect(before.startsWith(left)).toBe(true);
    }
  });
});

test("ordinary words stay, also those that short values would take out", () => {
  const text = "The model is not there: sk-proj is a prefix, and so is Bearer.";
  expect(redactor([key, "no", "x-1"])(text)).toBe(text);
});

test("an address without its secrets", () => {
  expect(shownUrl("https://user:pw@host.test:8443/v1?key=abc#x")).toBe("https://host.test:8443/v1");
  expect(shownUrl("not an address")).toBe("an address that is none");
});
