import type { Engine } from "../../../../src/engine/engine.ts";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { EngineEvent } from "../../../../src/engine/event.ts";
import type { Answer, Interaction } from "../../../../src/engine/interaction.ts";
import type { SessionLog, SessionStore } from "../../../../src/engine/ports.ts";
import type { Attachment } from "../../../../src/engine/session/attachment.ts";
import type { Session } from "../../../../src/engine/session/session.ts";
import type { Tool } from "../../../../src/engine/tool.ts";
import { createPermissionPolicy } from "../../../../src/permissions/policy.ts";
import { builtinTools } from "../../../../src/tools/all.ts";
import { diffLines } from "../../../../src/tools/edit/line-diff.ts";
import { toolJsonSchema } from "../../../../src/tools/json-schema.ts";
import type { Kit } from "../../../fakes/kit.ts";
import { createKit } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import { createMemoryStore } from "../../../fakes/memory-store.ts";
import type { Signal } from "../connection/served.ts";
import { createSignal, sessionIds } from "../connection/served.ts";
import { holdMachineClock, type MachineClock } from "./machine-clock.ts";
import type { Hanging } from "./replies.ts";
import { hangOn, microtasks, plannedModels } from "./replies.ts";
import type { Schedule } from "./steps.ts";

/** Shared by all schedules, and loaded once: no schedule waits for the disk, and each one is reproducible. */
export interface Loaded {
  readonly tools: readonly Tool[];
  readonly policy: ReturnType<typeof createPermissionPolicy>;
  readonly machineClock: MachineClock;
}

export async function loadOnce(): Promise<Loaded> {
  const tools = builtinTools.map(async (tool) => {
    const body = await tool.load();
    return { ...tool, inputSchema: JSON.stringify(await toolJsonSchema(tool)), load: async () => body };
  });
  const policy = createPermissionPolicy(() => "bash");
  await policy.read("ls", { cwd: "/ws", home: "/home/u" });
  await diffLines("", "x\n");
  return { tools: await Promise.all(tools), policy, machineClock: holdMachineClock() };
}

/** A session, and everything it published in this process. */
export interface WatchedSession {
  readonly session: Session;
  readonly events: readonly EngineEvent[];
  /** A client knows that it is in it. */
  isEntered: boolean;
}

/** The engine with its model, its disk and its machine, and their faults. */
export interface World {
  readonly kit: Kit;
  readonly sessions: readonly WatchedSession[];
  readonly hanging: Hanging;
  /** Calls of the model. */
  readonly called: { readonly count: number };
  failWrites(count: number): void;
  /** The write after this many others hangs. */
  hangWrite(after: number): void;
  /** Failed writes. */
  readonly failed: { readonly count: number };
  letGo(): void;
  untilStill(): Promise<void>;
}

export function createWorld(schedule: Schedule, { tools, policy, machineClock }: Loaded): World {
  const { replies, storePaces, maxRecord, isBusyMachine } = schedule;
  machineClock.setBusy(isBusyMachine);
  const hanging: Hanging = { now: createSignal(), count: 0 };
  const { models, called } = plannedModels(replies, () => kit.clock, hanging);
  const machine = createMemoryHost(
    { "/ws/readme.md": "hello\n", "/ws/hang.md": "late\n" },
    {
      async onCommand(command) {
        if (command.includes("hang")) await hangOn(hanging);
        return {};
      },
    },
  );
  const files: typeof machine.files = {
    ...machine.files,
    async read(path, ...given) {
      if (path === "/ws/hang.md") await hangOn(hanging);
      return machine.files.read(path, ...given);
    },
  };
  const host = { ...machine, files };
  const disk = createDisk({ storePaces, maxRecord }, () => kit.clock.now(), hanging);
  const kit: Kit = createKit([], { models, tools, policy, host, store: disk.store, ids: sessionIds() });
  return {
    kit,
    sessions: watchSessions(kit.engine),
    hanging,
    called,
    failed: disk.failed,
    failWrites: disk.failWrites,
    hangWrite: disk.hangWrite,
    letGo() {
      disk.hangWrite(undefined);
      const before: Signal = hanging.now;
      hanging.now = createSignal();
      before.give();
    },
    untilStill: machineClock.untilStill,
  };
}

/** A store whose writes take a while, and fail or hang on demand. */
function createDisk(
  { storePaces: paces, maxRecord }: Pick<Schedule, "storePaces" | "maxRecord">,
  now: () => number,
  hanging: Hanging,
) {
  const memory = createMemoryStore({ now });
  const failed = { count: 0 };
  let toFail = 0;
  let writes = 0;
  let hangsAt: number | undefined;
  const slowed = (log: SessionLog): SessionLog => ({
    ...log,
    async append(...given) {
      writes += 1;
      const isHanging = writes === hangsAt;
      await microtasks(paces[writes % paces.length] ?? 0);
      if (isHanging) await hangOn(hanging);
      if (toFail > 0) {
        toFail -= 1;
        failed.count += 1;
        throw new AgentError("storage_failed", "The disk is full.");
      }
      if (given[0].some((event) => JSON.stringify(event).length > maxRecord)) {
        failed.count += 1;
        throw new AgentError("input_too_large", "A record is too large.");
      }
      await log.append(...given);
    },
  });
  const store: SessionStore = {
    ...memory,
    create: async (...given) => slowed(await memory.create(...given)),
    acquire: async (...given) => slowed(await memory.acquire(...given)),
  };
  return {
    store,
    failed,
    failWrites(count: number) {
      toFail = count;
    },
    hangWrite(after: number | undefined) {
      hangsAt = after === undefined ? undefined : writes + after + 1;
    },
  };
}

/** Attaches to every session that the engine opens, before any client. */
function watchSessions(engine: Engine): readonly WatchedSession[] {
  const sessions: WatchedSession[] = [];
  const watch = (session: Session): void => {
    const events: EngineEvent[] = [];
    const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
    sessions.push({ session, events, isEntered: false });
    void (async () => {
      for await (const event of attachment.events()) events.push(event);
    })();
  };
  const create = engine.create.bind(engine);
  const resume = engine.resume.bind(engine);
  const fork = engine.fork.bind(engine);
  engine.create = async (options) => {
    const session = await create(options);
    watch(session);
    return session;
  };
  engine.resume = async (...given) => {
    const resumed = await resume(...given);
    watch(resumed.session);
    return resumed;
  };
  engine.fork = async (...given) => {
    const forked = await fork(...given);
    watch(forked.session);
    return forked;
  };
  return sessions;
}

/** An attachment directly to the engine, faster than a client. It joins once a client is there. */
export interface Second {
  /** Ids of the prompts that it sent first. */
  readonly prompts: ReadonlySet<string>;
  attach(abilities: { readonly approve: boolean; readonly answer: boolean }): void;
  answer(yes: boolean): void;
  /** Its own prompt, or one that a client also sends. */
  prompt(repeated?: { readonly text: string; readonly messageId: string }): void;
  interrupt(): void;
  leave(): void;
}

export function createSecond(sessions: readonly WatchedSession[]): Second {
  let here: { readonly session: Session; readonly attachment: Attachment } | undefined;
  const prompts = new Set<string>();
  const leave = (): void => {
    here?.attachment.detach();
    here = undefined;
  };
  return {
    prompts,
    leave,
    attach(abilities) {
      leave();
      const session = sessions.findLast(({ session, isEntered }) => isEntered && !session.isClosed)?.session;
      if (session === undefined) return;
      const attachment = session.attach({ ...abilities, onDetach: "cancel" });
      here = { session, attachment };
      void (async () => {
        for await (const _ of attachment.events());
      })();
    },
    answer(yes) {
      if (here === undefined) return;
      const [open] = [...here.session.openRequests()];
      if (open !== undefined) here.attachment.answer(open[0], yes ? yesTo(open[1]) : { kind: "cancel" });
    },
    prompt(repeated) {
      const { messageId, text } = repeated ?? { messageId: undefined, text: "from elsewhere" };
      const handle = here?.session.prompt([{ type: "text", text }], messageId === undefined ? {} : { messageId });
      if (handle !== undefined && handle.isRepeated !== true) prompts.add(handle.messageId);
    },
    interrupt() {
      // A write can fail, and the interrupting caller gets the error.
      here?.session.interrupt().catch(() => undefined);
    },
  };
}

function yesTo(interaction: Interaction): Answer {
  if (interaction.kind === "permission") return { kind: "allow" };
  if (interaction.kind === "plan") return { kind: "approve", autonomy: "low" };
  if (interaction.kind === "tool") return { kind: "result", text: "done" };
  return { kind: "answers", answers: interaction.questions.map(({ index }) => ({ index, answer: "this" })) };
}
