import type * as browser from "../../../src/sdk/browser.ts";
import type { Handlers, QuestionRequest, Session, TurnEvent } from "../../../src/sdk/browser.ts";

/* Runs in the page of browser.test.ts. It gets the SDK from the page's program, and uses only types of `src`. */

export type PageSdk = Pick<
  typeof browser,
  "createSession" | "resumeSession" | "query" | "webSocketConnection" | "readStreamJson"
>;

/** The test's services for the page. */
export interface Outside {
  /** Programs for this path stop until their sockets are closed. */
  freeze(path: string): Promise<void>;
  closeSockets(path: string): Promise<void>;
}

export interface Place {
  readonly address: string;
  readonly cwd: string;
  /** The scripted models by name. */
  readonly models: Readonly<Record<string, string>>;
}

export function createScenarios(
  { createSession, resumeSession, query, webSocketConnection, readStreamJson }: PageSdk,
  { address, cwd, models }: Place,
  { freeze, closeSockets }: Outside,
) {
  const connect = webSocketConnection(address);
  const open = (model: string, more: Handlers = {}): Promise<Session> =>
    createSession({ connect, cwd, modelId: models[model] ?? model, ...more });

  /** Closes the session in any case. */
  async function during<T>(opening: Promise<Session>, use: (session: Session) => Promise<T>): Promise<T> {
    const session = await opening;
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  }

  return {
    surroundings: () => ({
      isSecure: (globalThis as { readonly isSecureContext?: boolean }).isSecureContext,
      hasRandomUuid: "randomUUID" in crypto,
    }),

    streamed: () =>
      during(open("streamed"), async (session) => {
        const events: TurnEvent[] = [];
        const turn = session.stream("Hello, all of you: äöü 漢字 🦫");
        for await (const event of turn) events.push(event);
        const { id, settings, usage, title, isBusy } = session;
        return {
          id,
          cwd: session.cwd,
          settings,
          usage,
          title,
          isBusy,
          turnId: turn.id,
          events,
          result: await turn.result,
        };
      }),

    async permission() {
      const answers = ["cancel", "proceed_once"];
      const asked: object[] = [];
      const handlers: Handlers = {
        onPermission: async ({ calls, options }) => {
          asked.push({ calls, options });
          return answers.shift() ?? "cancel";
        },
      };
      return during(open("permission", handlers), async (session) => {
        const results = [await session.send("make no.txt"), await session.send("make yes.txt")];
        return { asked, results };
      });
    },

    async question() {
      const asked: QuestionRequest["questions"][] = [];
      const handlers: Handlers = {
        onQuestion: ({ questions }) => {
          asked.push(questions);
          return ["Blue", ["Round", "Soft"]];
        },
      };
      return during(open("question", handlers), async (session) => ({ result: await session.send("ask"), asked }));
    },

    interrupt: () =>
      during(open("slow"), async (session) => {
        const turn = session.stream("go on for ever");
        let shown = "";
        for await (const event of turn) {
          if (event.type !== "text") continue;
          shown += event.text;
          await turn.interrupt();
        }
        const afterwards = await session.send("and now?");
        return { shown, result: await turn.result, afterwards };
      }),

    aborted: () =>
      during(open("slow"), async (session) => {
        const leaving = new AbortController();
        const turn = session.stream("go on for ever", { signal: leaving.signal });
        const looping = (async () => {
          for await (const event of turn) if (event.type === "text") leaving.abort(new Error("The user has left."));
        })();
        const failures = [await failureOf(looping), await failureOf(turn.result)];
        return { failures, afterwards: await session.send("and now?") };
      }),

    settings: () =>
      during(open("streamed"), async (session) => {
        const before = session.settings;
        const told = await session.updateSettings({ autonomyLevel: "medium", interactionMode: "spec" });
        await session.rename("A page's own");
        const tools = await session.tools();
        const offered = await session.models();
        return {
          before,
          told,
          after: session.settings,
          title: session.title,
          hasRead: tools.some(({ name }) => name === "Read"),
          hasOffline: offered.some(({ id }) => id === "offline"),
          called: await session.call("list_commands"),
        };
      }),

    async resumed() {
      const id = await during(open("conversation"), async (session) => {
        await session.send("first prompt");
        return session.id;
      });
      const unknown = await failureOf(resumeSession("6f1c7a52-0000-4000-8000-000000000000", { connect }));
      return during(resumeSession(id, { connect }), async (session) => {
        const history = session.history.map(({ role, content }) => ({ role, content }));
        return {
          isSame: session.id === id,
          cwd: session.cwd,
          history,
          next: await session.send("second prompt"),
          unknown,
        };
      });
    },

    /** The first cannot continue before the second has had a whole turn. */
    async twoAtOnce() {
      const order: string[] = [];
      let letGo = (): void => {};
      let isAsked = (): void => {};
      const asked = new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      const permitted = new Promise<string>((resolve) => {
        letGo = () => resolve("proceed_once");
      });
      const handlers: Handlers = {
        onPermission: () => {
          order.push("first is asked");
          isAsked();
          return permitted;
        },
      };
      return during(open("first", handlers), (first) =>
        during(open("second"), async (second) => {
          const going = first.send("go").then((result) => {
            order.push("first has ended");
            return result;
          });
          await asked;
          const results = [await second.send("go")];
          order.push("second has ended");
          letGo();
          results.push(await going);
          return { order, results, areTwo: first.id !== second.id };
        }),
      );
    },

    async queried() {
      const turn = query("what is it?", { connect, cwd, modelId: models.streamed ?? "" });
      const types: string[] = [];
      for await (const { type } of turn) types.push(type);
      const other = query("what is it?", { connect, cwd, modelId: models.streamed ?? "" });
      return { types: [...new Set(types)], text: (await other.result).text };
    },

    /** Everything waiting is settled. */
    async serverGone() {
      const path = "doomed";
      const session = await createSession({
        connect: webSocketConnection(address + path),
        cwd,
        modelId: models.slow ?? "",
      });
      const turn = session.stream("go on for ever");
      const events = turn[Symbol.asyncIterator]();
      while ((await events.next()).value?.type !== "text");
      await freeze(path);
      const waiting = {
        result: turn.result,
        event: untilEnd(events),
        queued: session.send("next"),
        models: session.models(),
        tools: session.tools(),
        settings: session.updateSettings({ autonomyLevel: "low" }),
        rename: session.rename("never"),
        call: session.call("get_context_stats"),
      };
      const failing = Object.entries(waiting).map(async ([name, call]) => [name, await failureOf(call)] as const);
      await closeSockets(path);
      const failures = Object.fromEntries(await Promise.all(failing));
      const later = await failureOf(session.send("anybody?"));
      return { failures, later, ended: await session.ended, isBusy: session.isBusy };
    },

    refused: (elsewhere: string) => failureOf(createSession({ connect: webSocketConnection(elsewhere) })),

    async streamJson(text: string) {
      const read = async (source: Parameters<typeof readStreamJson>[0]) => {
        const events: unknown[] = [];
        for await (const event of readStreamJson(source)) events.push(event);
        return events;
      };
      return { whole: await read(text), streamed: await read(new Blob([text]).stream()) };
    },
  };
}

export type Scenarios = ReturnType<typeof createScenarios>;

async function untilEnd(events: AsyncIterator<TurnEvent>): Promise<void> {
  while (!(await events.next()).done);
}

async function failureOf(call: Promise<unknown>): Promise<object | string> {
  try {
    await call;
    return "It did not fail.";
  } catch (error) {
    return error instanceof Error ? { name: error.name, message: error.message } : String(error);
  }
}
