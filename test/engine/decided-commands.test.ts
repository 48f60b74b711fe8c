import { expect, test } from "vitest";
import type { Answer, Interaction } from "../../src/engine/interaction.ts";
import type { Session } from "../../src/engine/session/session.ts";
import { calls, createKit, says } from "../fakes/kit.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

/** A client that answers every permission request; `meanwhile` happens before the answer. */
function approver(session: Session, answer: Answer, meanwhile: () => void = () => undefined): Interaction[] {
  const asked: Interaction[] = [];
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  void (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      asked.push(event.interaction);
      meanwhile();
      attachment.answer(event.requestId, answer);
    }
  })();
  return asked;
}

const odd = "rm -rf 'ä b'\t\"$HOME\"  # ünïcode 👩‍💻\n\n";

test("the displayed text is exactly the text that runs, once", async () => {
  const kit = createKit([calls(["Execute", { command: odd }]), says("done")]);
  const session = await kit.open({ autonomy: "off" });
  const asked = approver(session, { kind: "allow" });
  await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect(asked.flatMap((one) => (one.kind === "permission" ? one.calls.map(({ preview }) => preview) : []))).toEqual([
    { type: "command", command: odd },
  ]);
  expect(kit.host.commands.map(({ command }) => Buffer.from(command))).toEqual([Buffer.from(odd)]);
});

test("a yes holds for one call: the same command is asked about again", async () => {
  const again = calls(["Execute", { command: "rm x" }]);
  const kit = createKit([again, again, says("done")]);
  const session = await kit.open({ autonomy: "off" });
  const asked = approver(session, { kind: "allow" });
  await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect([asked.length, kit.host.commands.length]).toEqual([2, 2]);
});

test("a link placed after the decision keeps a command from running", async () => {
  const host = createMemoryHost({ "/ws/notes.txt": "mine\n", "/home/u/.ssh/id_rsa": "key\n" });
  const steps = calls(["Create", { file_path: "new.txt", content: "x" }], ["Execute", { command: "cat notes.txt" }]);
  const kit = createKit([steps, says("done")], { host });
  const session = await kit.open({ autonomy: "off" });
  approver(session, { kind: "allow" }, () => host.link("/ws/notes.txt", "/home/u/.ssh/id_rsa"));
  await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect(host.commands).toEqual([]);
  expect(JSON.stringify(session.history())).toContain("has changed since this call was allowed");
});

test("git that became unsafe after the decision does not run", async () => {
  let runsPrograms = false;
  const host = createMemoryHost({}, { runsPrograms: () => runsPrograms });
  const steps = calls(["Create", { file_path: "new.txt", content: "x" }], ["Execute", { command: "git status" }]);
  const session = await createKit([steps, says("done")], { host }).open({ autonomy: "off" });
  approver(session, { kind: "allow" }, () => {
    runsPrograms = true;
  });
  await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect(host.commands).toEqual([]);
});

test("changes by an earlier call of the reply don't matter if the next one may still run", async () => {
  const host = createMemoryHost({ "/ws/a.txt": "1\n" });
  let matches: readonly string[] = ["/ws", "/ws/a.txt"];
  const looking = {
    ...host,
    lookUp: async (lookup: Parameters<typeof host.lookUp>[0]) =>
      lookup.what === "matches" ? matches : host.lookUp(lookup),
  };
  const steps = calls(["Create", { file_path: "b.txt", content: "2" }], ["Execute", { command: "cat *.txt" }]);
  const session = await createKit([steps, says("done")], { host: looking }).open({ autonomy: "off" });
  approver(session, { kind: "allow" }, () => {
    matches = ["/ws", "/ws/a.txt", "/ws/b.txt"];
  });
  await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect(host.commands.map(({ command }) => command)).toEqual(["cat *.txt"]);
});

test("does not ask about a command that a rule denies", async () => {
  const rules = { allow: [], deny: [["git", "push", "*"]], alwaysDeny: [] };
  const kit = createKit([calls(["Execute", { command: "git push" }]), says("done")], { rules });
  const session = await kit.open({ autonomy: "off" });
  const asked = approver(session, { kind: "allow" });
  const { reason, denials } = await session.prompt([{ type: "text", text: "go" }]).outcome;
  expect([reason, denials.map(({ rule }) => rule), asked, kit.host.commands]).toEqual([
    "denied",
    ["deny-rule"],
    [],
    [],
  ]);
});

test("a deny rule applies after its file is gone, while the session is open", async () => {
  const deny: (readonly string[])[] = [["touch", "*"]];
  const touch = calls(["Execute", { command: "touch a" }]);
  const kit = createKit([touch, touch], { rules: { allow: [], deny, alwaysDeny: [] } });
  const session = await kit.open({ autonomy: "low" });
  const run = async () =>
    (await session.prompt([{ type: "text", text: "go" }]).outcome).denials.map(({ rule }) => rule);
  const first = await run();
  deny.pop();
  expect([first, await run(), kit.host.commands]).toEqual([["deny-rule"], ["deny-rule"], []]);
});

test("a broken rule fails the turn before anything is done", async () => {
  const kit = createKit([says("hello")], { rulesFailure: "config.yaml: permissions.deny must be a list" });
  const session = await kit.open();
  expect(await session.prompt([{ type: "text", text: "go" }]).outcome).toMatchObject({
    reason: "failed",
    failure: { code: "config_invalid", message: "config.yaml: permissions.deny must be a list" },
    modelCalls: 0,
  });
});
