import { expect, test } from "vitest";
import { RequestError } from "../../src/sdk/errors.ts";

test.each([
  ["droid.x: a must be a string", "droid.x: a must be a string"],
  ["a must be a string", "droid.x: a must be a string"],
])("an error of a request names its method once: %s", (message, told) => {
  expect(new RequestError("droid.x", { code: -32602, message }).message).toBe(told);
});
