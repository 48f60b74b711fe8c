import type { Bench, RunOptions } from "../../../e2e/tinman.ts";
import { openWire, type Received, type Wire } from "../../../fakes/rpc/wire.ts";

/** A request's outcome. */
export interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A `session/update` of any kind. */
export interface Update extends Readonly<Record<string, unknown>> {
  readonly sessionUpdate: string;
}

/** A request from the agent. */
export interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The response to a request from the agent; `undefined`: none for now. */
export type Answering = (asked: Asked, nth: number) => object | undefined;

export interface EditorOptions extends RunOptions {
  /** After `acp`. */
  readonly args?: readonly string[];
  readonly capabilities?: object;
  answers?: Answering;
  readonly patienceMs?: number;
  readonly forgets?: boolean;
}

/** An editor that knows only lines and ids, without the protocol's library. */
export interface Editor {
  readonly wire: Wire;
  /** The agent's requests, in order. */
  readonly asked: readonly Asked[];
  /** From now on. */
  answers: Answering;
  /** Under the next number, unless an id is given. */
  request(method: string, params: object, id?: unknown): Promise<Answer>;
  notify(method: string, params: object): void;
  hello(): Promise<Answer>;
  /** The id of a new session. Rejects with an error's message. */
  open(cwd: string, more?: object): Promise<string>;
  prompt(sessionId: string, text: string): Promise<Answer>;
  waitForAsked(nth: number): Promise<Asked>;
  /** The updates of a session so far. */
  updates(sessionId: string): readonly Update[];
  waitForUpdate(sessionId: string, holds: (update: Update) => boolean): Promise<Update>;
  /** Disconnects, and waits for the program's exit. */
  leave(): ReturnType<Wire["exit"]>;
}

export function openEditor(bench: Bench, options: EditorOptions = {}): Editor {
  const { args = [], capabilities = {}, answers = () => undefined, ...run } = options;
  const wire = openWire(bench, { ...run, command: ["acp"], args });
  const asked: Asked[] = [];
  let lastId = 0;

  wire.subscribe((message) => {
    const { id, method, params = {} } = message;
    if (method === undefined || id === undefined) return;
    const request = { id, method, params };
    asked.push(request);
    const answer = editor.answers(request, asked.length);
    if (answer !== undefined) wire.send({ jsonrpc: "2.0", id, ...answer });
  });

  const editor: Editor = {
    wire,
    asked,
    answers,
    async request(method, params, id = ++lastId) {
      const from = wire.received.length;
      const key = JSON.stringify(id);
      const isAnswer = (message: Received): boolean =>
        message.method === undefined && JSON.stringify(message.id) === key;
      const answered = wire.waitFor(isAnswer, `the answer to ${method}`, from);
      wire.send({ jsonrpc: "2.0", id, method, params });
      const { result, error } = await answered;
      return { ...(result === undefined ? {} : { result }), ...(error === undefined ? {} : { error }) };
    },
    notify: (method, params) => wire.send({ jsonrpc: "2.0", method, params }),
    hello: () => editor.request("initialize", { protocolVersion: 1, clientCapabilities: capabilities }),
    async open(cwd, more = {}) {
      const { result, error } = await editor.request("session/new", { cwd, mcpServers: [], ...more });
      if (error !== undefined) throw new Error(error.message);
      return String(result?.sessionId);
    },
    prompt: (sessionId, text) => editor.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    async waitForAsked(nth) {
      const requests = (): readonly Asked[] => asked.slice(nth - 1);
      await wire.waitFor(() => requests().length > 0, `request ${nth} of the agent`);
      return requests()[0] as Asked;
    },
    updates: (sessionId) => wire.received.flatMap((message) => updateIn(message, sessionId)),
    async waitForUpdate(sessionId, holds) {
      const message = await wire.waitFor((each) => updateIn(each, sessionId).some(holds), "an update");
      return updateIn(message, sessionId)[0] as Update;
    },
    leave() {
      wire.eof();
      return wire.exit();
    },
  };
  return editor;
}

function updateIn({ method, params }: Received, sessionId: string): readonly Update[] {
  return method === "session/update" && params?.sessionId === sessionId ? [params.update as Update] : [];
}

/** An answer's text, joined from its pieces. */
export function textOf(updates: readonly Update[], kind = "agent_message_chunk"): string {
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate === kind)
    .map(({ content }) => (content as { readonly text?: string }).text ?? "")
    .join("");
}

/** An answer to `session/request_permission`. */
export const chooses = (optionId: string): object => ({ result: { outcome: { outcome: "selected", optionId } } });
export const choosesNothing = { result: { outcome: { outcome: "cancelled" } } };
