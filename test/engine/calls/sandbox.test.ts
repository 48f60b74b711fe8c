import { describe, expect, test } from "vitest";
import type { Interaction } from "../../../src/engine/interaction.ts";
import type { RunOptions } from "../../../src/engine/settings.ts";
import { ask, calls, createKit, type KitOptions, says, settings } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";

const auto = { mode: "auto", network: "proven", writable: ["/opt/cache"] } as const;
const required = { ...auto, mode: "required" } as const;
const execute = (command: string, more: object = {}) => ["Execute", { command, ...more }] as const;

/** Runs the calls, and answers every request for permission with yes. */
async function ran(wanted: readonly (readonly [string, unknown])[], options: Partial<typeof settings> = {}) {
  const kit = createKit([calls(...wanted), says("done")], { sandbox: auto });
  const session = await kit.open({ autonomy: "medium", ...options });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const asked: Interaction[] = [];
  const answering = (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      asked.push(event.interaction);
      attachment.answer(event.requestId, { kind: "allow" });
    }
  })();
  await ask(session, "go");
  attachment.detach();
  await answering;
  return { kit, session, asked };
}

describe("a command in the sandbox", () => {
  test("runs behind the walls of its decision, also in the background", async () => {
    const { kit, session } = await ran([
      execute("./build.sh"),
      execute("./serve.sh", { fireAndForget: true }),
      execute("git push"),
    ]);
    const { commands, backgrounds } = kit.host;
    const shown = [...commands, ...backgrounds].map(({ command, contained }) => {
      const { sessionId, walls } = contained ?? {};
      return { command, sessionId, writable: walls?.writable, caches: walls?.caches, network: walls?.network };
    });
    const places = { writable: [`/tmp/${session.id}`, "/ws"], caches: ["/opt/cache"] };
    const walls = { sessionId: session.id, ...places, network: "session" };
    expect(shown).toEqual([
      { command: "./build.sh", ...walls },
      { command: "git push" },
      { command: "./serve.sh", ...walls },
    ]);
  });

  test("is asked about without its walls, which are not stored either", async () => {
    const { kit, session, asked } = await ran([execute("./build.sh"), execute("git push")], { autonomy: "low" });
    const decisions = asked.flatMap((one) =>
      one.kind === "permission" ? one.calls.map(({ decision }) => decision) : [],
    );
    expect(decisions).toEqual([
      expect.objectContaining({ class: "medium", contained: true }),
      expect.objectContaining({ class: "high", contained: false }),
    ]);
    const { events } = await kit.store.read(session.id);
    expect(JSON.stringify([events, decisions])).not.toContain("walls");
    expect(kit.host.commands.map(({ contained }) => contained !== undefined)).toEqual([true, false]);
  });

  test("asks to leave it with riskLevel high, and leaves it after a yes", async () => {
    const { kit, asked } = await ran([execute("./build.sh", { riskLevel: "high" })], { autonomy: "medium" });
    expect(asked).toMatchObject([{ calls: [{ decision: { rule: "leaves-sandbox", contained: false } }] }]);
    expect(kit.host.commands.map(({ contained }) => contained)).toEqual([undefined]);
  });

  test("writes nothing but its temp folder in spec mode", async () => {
    const { kit, session } = await ran([execute("ls"), execute("./build.sh")], { mode: "spec" });
    expect(kit.host.commands.map(({ command, contained }) => [command, contained?.walls.writable])).toEqual([
      ["ls", [`/tmp/${session.id}`]],
    ]);
  });

  test("shares a sandbox that ends with the session, if there was any", async () => {
    const used = await ran([execute("ls")]);
    const unused = await ran([["Read", { file_path: "/ws/readme.md" }]]);
    for (const { session } of [used, unused]) await session.close();
    expect([used, unused].map(({ kit }) => kit.host.endedSandboxes)).toEqual([[used.session.id], []]);
  });
});

describe("a required sandbox that does not work", () => {
  const sandbox = { works: false, why: "bubblewrap was not found.", advice: "Install it." } as const;
  const store = createMemoryStore();
  const withRequired = (): KitOptions => ({
    sandbox: required,
    store,
    host: createMemoryHost({ "/ws/a": "" }, { sandbox }),
  });
  const message = "The sandbox is required, and does not work here. bubblewrap was not found. Install it.";

  test("refuses to create, resume and fork sessions before anything is written", async () => {
    const before = await createKit([], { store }).open();
    await before.close();
    const { engine } = createKit([], withRequired());
    const stored = async () => [await store.list(), await store.read(before.id)];
    const was = await stored();
    const refused = { code: "sandbox_unavailable", message };
    await expect(engine.create({ cwd: "/ws", settings })).rejects.toMatchObject(refused);
    await expect(engine.resume(before.id)).rejects.toMatchObject(refused);
    await expect(engine.resume(before.id, { toRead: true })).rejects.toMatchObject(refused);
    await expect(engine.fork(before.id)).rejects.toMatchObject(refused);
    expect(await stored()).toEqual(was);
  });

  test("is reported once where it is not required, if commands would be contained", async () => {
    const host = () => createMemoryHost({ "/ws/a": "" }, { sandbox });
    const notices = async (autonomy: "medium" | "high", mode: "auto" | "off") => {
      const replies = [calls(execute("ls")), calls(execute("npm test")), says("done")];
      const seen: string[] = [];
      const observe: KitOptions["observe"] = (event) => void (event.type === "notice" && seen.push(event.text));
      const session = await createKit(replies, { sandbox: { ...auto, mode }, host: host(), observe }).open({
        autonomy,
      });
      await ask(session, "go");
      return seen;
    };
    expect([await notices("medium", "auto"), await notices("high", "auto"), await notices("medium", "off")]).toEqual([
      ["Commands run without a sandbox. bubblewrap was not found. For what to do, run: tinman doctor"],
      [],
      [],
    ]);
  });

  test("does not matter to sessions whose tools the client runs", async () => {
    const { engine } = createKit([], withRequired());
    const session = await engine.create({ id: "c", cwd: "/ws", settings: { ...settings, clientRunsTools: true } });
    await session.close();
  });
});

test("a required sandbox and a run that never asks exclude each other", async () => {
  const { engine } = createKit([], { sandbox: required });
  const create = (run: RunOptions) => engine.create({ cwd: "/ws", settings, run });
  await expect(create({ unsafe: true })).rejects.toMatchObject({ code: "usage" });
  await (await create({})).close();
});

test("clients learn whether commands are contained at a level, if containment applies to the session", async () => {
  const contains = async (
    sandbox: KitOptions["sandbox"],
    run: RunOptions = {},
    more: Partial<typeof settings> = {},
  ) => {
    const { engine } = createKit([], sandbox === undefined ? {} : { sandbox });
    const session = await engine.create({ cwd: "/ws", settings: { ...settings, ...more }, run });
    return [session.sandbox.contains({ ...settings, autonomy: "medium" }), session.sandbox.contains(session.settings)];
  };
  expect([
    await contains(auto),
    await contains(required),
    await contains(undefined),
    await contains({ ...auto, mode: "off" }),
    await contains(auto, { unsafe: true }),
  ]).toEqual([
    [true, false],
    [true, true],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});
