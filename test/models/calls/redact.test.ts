import { describe, expect, test } from "vitest";
import { redactor, shownUrl } from "../../../src/models/calls/redact.ts";

const key = "sk-proj-Abc123Def456Ghi789Jkl012";
const redact = redactor([key, undefined, "", "Bearer tok-98765432109876"]);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("hides a secret", () => {
  test.each([
    ["verbatim", `no: ${key}.`],
    ["in upper case", `no: ${key.toUpperCase()}.`],
    ["across two lines", `no: ${key.slice(0, 9)}\n  ${key.slice(9)}.`],
    ["in a URL", `no: https://x/?key=${encodeURIComponent(key)}&y=1.`],
    ["in base64", `no: ${base64(key)}.`],
    ["in base64 after a name", `no: ${base64(`user:${key}`)}.`],
    ["in hexadecimal", `no: ${Buffer.from(key).toString("hex")}.`],
    ["without its end", `no: ${key.slice(0, -2)}`],
    ["without its start", `no: ${key.slice(8)}.`],
    ["within a word", `no: xx${key.slice(4, 20)}yy.`],
    ["from a header, without its first word", "no: tok-98765432109876."],
  ])("%s", (_, text) => {
    const shown = redact(text);
    expect(shown).toContain("[hidden]");
    expect(shown.startsWith("no: ")).toBe(true);
    for (let at = 0; at + 12 <= key.length; at += 1) expect(shown).not.toContain(key.slice(at, at + 12));
    expect(shown).not.toContain("98765432109876");
  });

  test.each(["", "u:", "me:", "user:", "a-name:"])("completely, in base64 after %j", (before) => {
    for (const coding of ["base64", "base64url"] as const) {
      const coded = Buffer.from(`${before}${key}`).toString(coding);
      const shown = redact(`no: ${coded} !`);
      expect(shown).toMatch(/^no: [A-Za-z0-9]*\[hidden\] !$/);
      // The rest must contain nothing of the key.
      const left = Buffer.from(shown.slice(4, shown.indexOf("[")), "base64").toString();
      expect(before.startsWith(left)).toBe(true);
    }
  });
});

const odd = "a/b+c=d e:f?g&h~i(j)ü-123456";
const strict = (text: string): string => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16)}`).join("");
test.each([
  ["a component", encodeURIComponent(odd)],
  ["a path, with slashes left alone", encodeURIComponent(odd).replaceAll("%2F", "/")],
  ["an address", encodeURI(odd)],
  ["lower-case digits", encodeURIComponent(odd).toLowerCase()],
  ["every byte", strict(odd)],
  ["every sign", odd.replace(/[^a-zü0-9]/gu, strict)],
  ["JSON with escaped slashes", odd.replaceAll("/", "\\/")],
])("hides a secret encoded as %s", (_, encoded) => {
  expect(redactor([`key ${odd.replace(/[ :]/g, "")}`, odd])(`no: /x/${encoded}.`)).toBe("no: /x/[hidden].");
});

test("keeps ordinary words, even if a short value matches them", () => {
  const text = "The model is not there: sk-proj is a prefix, and so is Bearer.";
  expect(redactor([key, "no", "x-1"])(text)).toBe(text);
});

test("shows an address without its secrets", () => {
  expect(shownUrl("https://user:pw@host.test:8443/v1?key=abc#x")).toBe("https://host.test:8443/v1");
  expect(shownUrl("not an address")).toBe("an invalid address");
});
