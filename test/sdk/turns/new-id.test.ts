import { expect, test } from "vitest";
import { createSession, query } from "../../../src/sdk/node.ts";
import { newId } from "../../../src/sdk/turns/prompt-params.ts";
import { createFakeBackend } from "../fakes/fake-backend.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a new id is a unique random UUID", () => {
  const ids = Array.from({ length: 1000 }, newId);
  expect(ids.filter((id) => !uuid.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  // All variable positions vary.
  const varying = Array.from({ length: 36 }, (_, at) => new Set(ids.map((id) => id[at])).size);
  const fixed = new Map([8, 13, 14, 18, 23].map((at) => [at, 1])).set(19, 4);
  expect(varying).toEqual(varying.map((_, at) => fixed.get(at) ?? 16));
});

test("works without `crypto.randomUUID`, as in a page loaded over plain http", async () => {
  const own = Object.getOwnPropertyDescriptor(crypto, "randomUUID");
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  try {
    const { connect } = createFakeBackend();
    const session = await createSession({ connect });
    const { id } = session.stream("hello");
    await session.close();
    expect([id, query("hello", { connect }).id]).toEqual([expect.stringMatching(uuid), expect.stringMatching(uuid)]);
  } finally {
    if (own === undefined) Reflect.deleteProperty(crypto, "randomUUID");
    else Object.defineProperty(crypto, "randomUUID", own);
  }
});
