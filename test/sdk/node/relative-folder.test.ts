import { mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createSession, query, resumeSession } from "../../../src/sdk/node.ts";
import { createFakeBackend } from "../fakes/fake-backend.ts";
import { createStandIns } from "../fakes/stand-ins.ts";

const standIns = createStandIns();
afterAll(standIns.remove);

const folder = join(standIns.folder, "here");
const cwd = relative(process.cwd(), folder);
mkdirSync(folder);

/** Records its start folder and requested cwd. Rejects `load_session` until a session was initialized. */
function observer(name: string) {
  const file = join(standIns.folder, name);
  const executable = standIns.node(`
    import { appendFileSync } from "node:fs";
    import { createInterface } from "node:readline";
    let isOpen = false;
    const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === "droid.initialize_session") {
        isOpen = true;
        appendFileSync(${JSON.stringify(file)}, JSON.stringify([process.cwd(), params.cwd]));
      }
      if (isOpen) send({ id, result: { sessionId: "s", session: { messages: [] } } });
      else send({ id, error: { code: -32600, message: "Nothing is open." } });
      if (method === "droid.add_user_message") {
        send({ method: "droid.session_notification", params: { notification: { type: "agent_turn_completed", reason: "completed", turnId: params.messageId } } });
      }
    });
  `);
  return { executable, seen: (): unknown => JSON.parse(readFileSync(file, "utf8")) };
}

test.each([
  ["create", async (executable: string) => (await createSession({ executable, cwd })).close()],
  ["resume", async (executable: string) => (await resumeSession("s", { executable, cwd })).close()],
  ["query", async (executable: string) => void (await query("x", { executable, cwd }).result)],
])("a relative folder is resolved from this process's working directory: %s", async (name, open) => {
  const { executable, seen } = observer(name);
  await open(executable);
  expect(seen()).toEqual([folder, folder]);
});

test("a custom connection gets the folder unchanged", async () => {
  const backend = createFakeBackend();
  const session = await createSession({ connect: backend.connect, cwd: "C:\\work" });
  expect((await backend.next("droid.initialize_session")).params).toMatchObject({ cwd: "C:\\work" });
  await session.close();
});
