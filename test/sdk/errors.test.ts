import { expect, test } from "vitest";
import { RequestError } from "../../src/sdk/errors.ts";

test.each(["droid.load_session: a must be a string", "a must be a string"])(
  "a request's error names the request, once and in words: %s",
  (words) => {
    const { message, detail } = new RequestError("droid.load_session", { code: -32602, message: words });
    expect([message, detail]).toEqual(["load session: a must be a string", "a must be a string"]);
  },
);
