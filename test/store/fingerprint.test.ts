import { expect, it } from "vitest";
import { fingerprint } from "../../src/store/listing/fingerprint.ts";

it("differs for different texts, even similar ones", () => {
  const texts = Array.from({ length: 200_000 }, (_, n) => `/home/user/project-${n}`);
  const near = [
    "/a-b",
    "/a/b",
    "/a_b",
    "/a.b",
    "/a b",
    "",
    "/",
    "//",
    "a",
    "b",
    "ab",
    "ba",
    "\ud800",
    "\udc00",
    "中",
    "文",
  ];
  expect(new Set([...texts, ...near].map(fingerprint)).size).toBe(texts.length + near.length);
});

it("is sixteen hex digits and deterministic", () => {
  expect(fingerprint("/work space")).toMatch(/^[0-9a-f]{16}$/);
  expect(fingerprint("/work space")).toBe(fingerprint("/work space"));
});
