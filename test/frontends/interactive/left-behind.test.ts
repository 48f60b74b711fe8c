import { expect, test } from "vitest";
import { says, until } from "../../fakes/kit.ts";
import { isFinal, serve, textIn } from "./served.ts";

test("messages that a stopped server had accepted are answered when their session is resumed", async () => {
  const never = async function* () {
    yield { type: "text", text: "Half" } as const;
    await new Promise(() => undefined);
  };
  const before = serve([never]);
  const client = before.connect();
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "one" });
  await client.until(({ params }) => params?.chunk === "Half");
  const second = (await client.request("sendUserMessage", { sessionId, message: "two" })).result?.messageId;
  const third = (await client.request("sendUserMessage", { sessionId, message: "three" })).result?.messageId;
  await until(() => before.pool.all()[0]?.waiting().length === 2);

  // As another process finds the log.
  const after = serve([says("Two."), says("Three.")], {}, { store: copyOf(before.kit.store) });
  const back = after.connect();
  const { result } = await back.request("resumeSession", { sessionId });
  expect(result).toMatchObject({ running: false, waiting: [second, third] });
  const seen = await back.until((frame) => isFinal(frame) && frame.params?.messageId === third);
  expect(seen.filter(isFinal).map(({ params }) => [params?.messageId === second, params?.reason])).toEqual([
    [false, "interrupted"],
    [true, "completed"],
    [false, "completed"],
  ]);
  expect(textIn(seen.filter(({ params }) => params?.messageId === third))).toBe("Three.");
  await back.close();
});

/** The same logs, without their writers' locks. */
function copyOf(store: ReturnType<typeof serve>["kit"]["store"]): typeof store {
  return { ...store, acquire: async () => ({ append: async () => undefined, release: async () => undefined }) };
}
