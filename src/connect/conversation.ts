import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../text/values.ts";
import { ConnectionLost, type Link, type Params, type Request, RpcFault } from "./link.ts";
import type { Screen } from "./screen.ts";
import { createSessionState, type Outgoing, type StateEvents, textOf } from "./session-state.ts";
import { SocketFault } from "./socket-faults.ts";

/** Settings of new sessions, named as on the wire. */
export interface StartParams {
  readonly userId: string;
  readonly sessionParams: Params;
}

interface ConversationParts {
  readonly link: () => Link;
  readonly screen: Screen;
  readonly start: StartParams;
  readonly events: StateEvents;
}

const lastWordsMs = 500;
const stepMs = 10;
const drainMs = 200;

export type Conversation = ReturnType<typeof createConversation>;

/** One session at a time, over a connection that can be lost and come back. */
export function createConversation({ link, screen, start, events }: ConversationParts) {
  const state = createSessionState(screen, events);
  let isStopping = false;

  /** For idempotent requests: repeats them until they are answered. */
  async function insist(method: string, params: Params, taken?: (result: Params) => void): Promise<Params> {
    for (;;) {
      try {
        return await link().request(method, params, taken);
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  async function begin(): Promise<void> {
    await insist("startSession", { ...start }, ({ sessionId }) => state.begin(textOf(sessionId)));
  }

  async function attach(request: Request, sessionId: string, afterSeq: number | undefined): Promise<void> {
    const params = { sessionId, ...(afterSeq !== undefined && { afterSeq }) };
    await request("resumeSession", params, (result) => {
      if (state.sessionId !== sessionId) state.begin(sessionId);
      state.resumed(result);
    });
    // The replay precedes any response to this.
    await request("echo", {}).catch((error) => {
      if (!(error instanceof RpcFault)) throw error;
    });
    state.caughtUp();
  }

  async function deliver(mine: Outgoing): Promise<void> {
    for (;;) {
      try {
        const params = { sessionId: state.sessionId, message: mine.message };
        await link().request("sendUserMessage", params, ({ messageId, seq }) => {
          mine.messageId = textOf(messageId);
          state.sawSeq(seq);
        });
        return;
      } catch (error) {
        if (error instanceof RpcFault && error.isDraining) {
          // It is about to close, and the next server may accept the message.
          await sleep(drainMs);
          continue;
        }
        if (!(error instanceof ConnectionLost)) throw error;
        mine.isInDoubt = true;
        await link().ready();
        // The server had received it.
        if (mine.messageId !== undefined) return;
        if (!state.outgoing.has(mine)) return;
      }
    }
  }

  return {
    get sessionId(): string | undefined {
      return state.sessionId;
    },
    get lastSeq(): number | undefined {
      return state.lastSeq;
    },
    start: begin,
    resume: (sessionId: string, afterSeq?: number) => attach(link().request, sessionId, afterSeq),
    /** Resolves with the reason why the answer ended. Starts a session if there is none. */
    async send(message: string): Promise<string> {
      if (state.sessionId === undefined) await begin();
      const ended = new Promise<string>((resolve) => {
        const mine: Outgoing = { message, isInDoubt: false, ended: resolve };
        state.outgoing.add(mine);
        deliver(mine).catch((error) => {
          state.outgoing.delete(mine);
          screen.tell(`The server did not accept the message: ${errorMessage(error)}`);
          resolve("error");
        });
      });
      return ended;
    },
    /** Resolves with the number of cancelled answers. */
    async cancel(): Promise<number> {
      if (state.sessionId === undefined) return 0;
      const { cancelled } = await insist("cancel", { sessionId: state.sessionId });
      return typeof cancelled === "number" ? cancelled : 0;
    },
    async stop(): Promise<void> {
      const { sessionId } = state;
      if (sessionId === undefined) return;
      isStopping = true;
      try {
        await insist("stopSession", { sessionId });
        // Some servers send notifications after the response.
        for (let waited = 0; waited < lastWordsMs && state.sessionId === sessionId; waited += stepMs)
          await sleep(stepMs);
        if (state.sessionId === sessionId) state.over();
      } finally {
        isStopping = false;
      }
    },
    async answer(toolCallId: string, result: string, isError: boolean): Promise<void> {
      if (!state.calls.close(toolCallId)) return;
      const params = { sessionId: state.sessionId, toolCallId, result, ...(isError && { isError }) };
      await insist("provideToolResult", params).catch((error) => {
        if (!(error instanceof RpcFault)) throw error;
        screen.tell(`The server did not accept the result of ${toolCallId}: ${error.message}`);
      });
    },
    openCalls: state.calls.ids,
    isRunning: state.isRunning,
    settled: state.settled,
    ask: (method: string) => insist(method, {}),
    /** For the link. */
    notification: state.notification,
    async restore(request: Request): Promise<void> {
      const { sessionId } = state;
      if (sessionId === undefined || isStopping) return;
      try {
        await attach(request, sessionId, state.lastSeq ?? 0);
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
        throw new SocketFault(`The session ${sessionId} could not be resumed: ${error.message}`, !error.isDraining);
      }
    },
  };
}
