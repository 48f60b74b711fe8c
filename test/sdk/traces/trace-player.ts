import { setImmediate as nextRound } from "node:timers/promises";
import { vi } from "vitest";
import type { CreateOptions, PromptOptions, Session, Turn } from "../../../src/sdk/api.ts";
import { createSession, resumeSession } from "../../../src/sdk/browser.ts";
import { RequestError, SdkError } from "../../../src/sdk/errors.ts";
import type { TurnEvent, TurnResult } from "../../../src/sdk/types.ts";
import { settled } from "../fakes/fake-backend.ts";
import { createTraceBackend } from "./trace-backend.ts";
import type { Act, PromptParams, Scene } from "./trace-script.ts";

/** A request's outcome. */
export type Outcome =
  | { readonly ok: unknown }
  | { readonly error: string; readonly isAssigned?: boolean }
  | { readonly error: "none yet" };

export interface PlayedTurn {
  readonly key: number;
  readonly events: readonly TurnEvent[];
  readonly outcome: { readonly result: TurnResult } | { readonly error: string };
}

export interface PlayedRun {
  readonly turns: readonly PlayedTurn[];
  /** Of everything but prompts and answers, by the line's key. */
  readonly outcomes: ReadonlyMap<number, Outcome>;
  /** All events, within turns and between them. */
  readonly events: readonly TurnEvent[];
  readonly warnings: readonly string[];
  /** The session's state at the end. */
  readonly known: Pick<Session, "settings" | "title" | "usage"> | undefined;
  /** Requests of the backend that were withdrawn before they had an answer. */
  readonly withdrawn: readonly string[];
  /** Leftovers at the end, of which there should be none. */
  readonly left: readonly string[];
  /** The SDK's errors for the backend's end, and for a request after it. */
  readonly end: { readonly reason: string; readonly after: string };
}

/** Everything before the client's next line at once, or one line at a time. */
export type Pace = "at once" | "one by one";

/** The side that ends it: the backend, which disappears, or the caller, who closes the session. */
export type Ending = "gone" | "closed";

/** Whether the caller iterates each turn, or only takes its result. */
export type Wish = "events" | "result";

export interface Manner {
  readonly pace?: Pace;
  readonly ending?: Ending;
  readonly wish?: Wish;
}

/** Longer than the SDK waits for a last message, and shorter than any other limit. */
const momentMs = 300;

/** Plays a script to the SDK. Needs fake timers: time passes only when nothing else happens. */
export async function playScript(
  scenes: readonly Scene[],
  { pace = "at once", ending = "gone", wish = "events" }: Manner = {},
): Promise<PlayedRun> {
  const letTimePass = (): void => void vi.advanceTimersByTime(momentMs);
  const backend = createTraceBackend(letTimePass);
  const stage = createStage(backend.connect, wish);
  for (const scene of scenes) {
    if (scene.by === "client") {
      // The recorded client had also read everything before.
      await settled();
      letTimePass();
      await settled();
      stage.perform(scene.key, scene.act);
    } else if (scene.by === "sdk") {
      await backend.hear(scene);
    } else {
      backend.say(scene);
      if (pace === "one by one") await nextRound();
    }
  }
  await settled();
  letTimePass();
  await settled();
  if (ending === "gone") backend.end();
  else await stage.close();
  await settled();
  const played = await stage.finish();
  const left = [
    ...played.left,
    // The last message of a session closed in the middle of a turn has no reader.
    ...backend.unheard.filter(({ id }) => id !== "last").map((message) => `sent: ${JSON.stringify(message)}`),
    ...(vi.getTimerCount() > 0 ? [`${vi.getTimerCount()} timers`] : []),
  ];
  return { ...played, left };
}

interface Request {
  readonly id: string;
  readonly signal: AbortSignal;
}

function createStage(connect: CreateOptions["connect"] & {}, wish: Wish) {
  const events: TurnEvent[] = [];
  const warnings: string[] = [];
  const turns: {
    readonly key: number;
    readonly turn: Turn;
    readonly events: TurnEvent[];
    outcome?: PlayedTurn["outcome"];
  }[] = [];
  const outcomes = new Map<number, Outcome>();
  const withdrawn: string[] = [];
  /** The backend's requests that wait for the recorded answer. */
  const asked = new Map<string, (answer: never) => void>();
  let session: Session | undefined;

  const answered = <T>({ id, signal }: Request): Promise<T> =>
    new Promise((resolve) => {
      asked.set(id, resolve as (answer: never) => void);
      signal.addEventListener("abort", () => withdrawn.push(id));
    });
  const handlers = {
    connect,
    onPermission: (request: Request) => answered<string>(request),
    onPlan: (request: Request) => answered<string>(request),
    onQuestion: (request: Request) => answered<readonly string[] | undefined>(request),
    onEvent: (event: TurnEvent) => void events.push(event),
    onWarning: (warning: string) => void warnings.push(warning),
  };

  function note(key: number, outcome: Promise<unknown>): void {
    outcomes.set(key, { error: "none yet" });
    outcome.then(
      (ok) => outcomes.set(key, { ok }),
      (error: unknown) => outcomes.set(key, failureOf(error)),
    );
  }

  function begin(key: number, { text, messageId: id, images, files }: PromptParams, { stream }: Session): void {
    const attached = { ...(images && { images: images.map(untyped) }), ...(files && { files: files.map(untyped) }) };
    const turn = stream(text, { id, ...attached } as PromptOptions);
    const played: (typeof turns)[number] = { key, turn, events: [] };
    turns.push(played);
    void (async () => {
      try {
        if (wish === "events") for await (const event of turn) played.events.push(event);
        played.outcome = { result: await turn.result };
      } catch (error) {
        played.outcome = failureOf(error);
      }
    })();
  }

  function answer(requestId: string, value: unknown): void {
    const settle = asked.get(requestId) as ((answer: unknown) => void) | undefined;
    if (settle === undefined) throw new Error(`${requestId} was not asked.`);
    asked.delete(requestId);
    settle(value);
  }

  function open(key: number, opening: Promise<Session>): void {
    const opened = opening.then((one) => {
      session = one;
    });
    note(key, opened);
  }

  function perform(key: number, act: Act): void {
    if (act.type === "nothing") return;
    if (act.type === "create") open(key, createSession({ ...(act.params as CreateOptions), ...handlers }));
    else if (act.type === "resume") open(key, resumeSession(act.sessionId, handlers));
    else if (session === undefined) throw new Error("There is no session.");
    else if (act.type === "prompt") begin(key, act.params, session);
    else if (act.type === "permission" || act.type === "question") answer(act.requestId, act.answer);
    else note(key, asking(act, session));
  }

  return {
    perform,
    close: async () => session?.close(),
    async finish(): Promise<PlayedRun> {
      const after = await session?.call("interrupt_session").then(
        () => "an answer",
        (error: unknown) => (error instanceof Error ? error.name : String(error)),
      );
      const reason = (await session?.ended)?.reason ?? "";
      const isBusy = session?.isBusy === true;
      await session?.close();
      const left = [
        ...[...outcomes].filter(([, one]) => "error" in one && one.error === "none yet").map(([key]) => `line ${key}`),
        ...turns.filter(({ outcome }) => outcome === undefined).map(({ key }) => `the turn of line ${key}`),
        ...(isBusy ? ["a busy session"] : []),
      ];
      return {
        turns: turns.map(({ key, events, outcome = { error: "none yet" } }) => ({ key, events, outcome })),
        outcomes,
        events,
        warnings,
        known: session && { settings: session.settings, title: session.title, usage: session.usage },
        withdrawn,
        left,
        end: { reason, after: after ?? "" },
      };
    },
  };
}

type Asking = Exclude<Act, { type: "nothing" | "create" | "resume" | "prompt" | "permission" | "question" }>;

function asking(act: Asking, session: Session): Promise<unknown> {
  switch (act.type) {
    case "interrupt":
      return session.interrupt();
    case "settings":
      return session.updateSettings(act.change).then(() => undefined);
    case "rename":
      return session.rename(act.title);
    case "tools":
      return session.tools();
    case "models":
      return session.models().then((models) => models.map(({ id }) => id));
    case "call":
      return session.call(act.method, act.params);
  }
}

/** The SDK's callers do not choose the encoding of a file's data. */
function untyped({ type: _type, ...others }: Readonly<Record<string, unknown>>): object {
  return others;
}

function failureOf(error: unknown): { readonly error: string; readonly isAssigned?: boolean } {
  if (error instanceof RequestError) return { error: `${error.code} ${error.message}`, isAssigned: error.isAssigned };
  return { error: error instanceof SdkError ? error.name : String(error) };
}
