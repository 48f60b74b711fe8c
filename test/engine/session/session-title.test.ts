import { expect, test } from "vitest";
import { ask, createKit, says } from "../../fakes/kit.ts";

test("a refused prompt does not name the session; the next one does", async () => {
  const kit = createKit([says("Fine.")], { model: { contextWindow: 30_000 } });
  const session = await kit.open();
  expect(await ask(session, "word ".repeat(50_000))).toMatchObject({ reason: "context_full" });
  expect(session.title).toBe("");
  await ask(session, "small");
  expect(session.title).toBe("small");
  await session.close();
});

test("a prompt that the log rejects does not name the session", async () => {
  const session = await createKit([says("Fine.")]).open();
  await expect(session.prompt([{ type: "text", text: "x".repeat(17_000_000) }]).accepted).rejects.toMatchObject({
    code: "input_too_large",
  });
  await ask(session, "small");
  expect(session.title).toBe("small");
  await session.close();
});
