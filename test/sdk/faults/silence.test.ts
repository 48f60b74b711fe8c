import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSession, TimeoutError } from "../../../src/sdk/node.ts";
import { createFakeBackend, idle, says, state } from "../fakes/fake-backend.ts";

const silence = 40;
const asked = {
  toolUses: [{ toolUse: { id: "c1", name: "Execute", input: {} }, details: { type: "exec", fullCommand: "ls" } }],
  options: [{ value: "proceed_once", label: "Yes" }],
};

/** A turn with a question, and a handler slower than the backend may be silent. */
async function askedSlowly() {
  const backend = createFakeBackend();
  const session = await createSession({
    connect: backend.connect,
    timeouts: { silence },
    async onPermission() {
      await sleep(4 * silence);
      return "proceed_once";
    },
  });
  const result = session.send("x", { id: "turn-1" });
  await backend.next("droid.add_user_message");
  backend.notify(state("executing_tool"));
  backend.ask("p1", "droid.request_permission", asked);
  return { backend, session, result };
}

test("a slow handler does not count as the backend's silence", async () => {
  const { backend, session, result } = await askedSlowly();
  expect(await backend.next("response")).toMatchObject({ id: "p1", result: { selectedOption: "proceed_once" } });
  backend.notify(says("m1", "Done."), idle);
  expect(await result).toEqual({ status: "completed", reason: "completed", text: "Done.", turnId: "turn-1" });
  await session.close();
});

test("once answered, it counts", async () => {
  const { backend, session, result } = await askedSlowly();
  await backend.next("response");
  await expect(result).rejects.toEqual(new TimeoutError(`The backend said nothing within ${silence} ms.`));
  await session.close();
});
