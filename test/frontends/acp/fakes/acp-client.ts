import { Readable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  ndJsonStream,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { thatStay } from "../../../e2e/processes.ts";
import type { Bench } from "../../../e2e/tinman.ts";
import { createWireChecker, type Side } from "./acp-schema.ts";

/** Our own engine, and the same program behind the adapter: the same rules hold for both. */
export const sources = ["agent", "adapter"] as const;
export type Source = (typeof sources)[number];

export interface EditorOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly capabilities?: ClientCapabilities;
  /** Nothing is sent at first, not even `initialize`. */
  readonly isSilent?: boolean;
  /** Instead of `acp` and the choice of the backend. */
  readonly command?: readonly string[];
}

/** A message as on the wire. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Permit = (request: RequestPermissionRequest, signal: AbortSignal) => Awaitable<RequestPermissionResponse>;
export type Elicit = (request: CreateElicitationRequest, signal: AbortSignal) => Awaitable<CreateElicitationResponse>;
type Awaitable<T> = T | Promise<T>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** An editor based on the official client. Every line in both directions is checked against the protocol's schema. */
export interface Editor {
  readonly agent: ClientContext;
  readonly hello: InitializeResponse;
  readonly lines: readonly { readonly from: Side; readonly message: Line }[];
  /** Faults on the wire. */
  readonly faults: readonly string[];
  readonly permissions: readonly RequestPermissionRequest[];
  readonly elicitations: readonly CreateElicitationRequest[];
  /** How the next requests are answered. Default: `cancelled`, or `cancel`. */
  permit: Permit;
  elicit: Elicit;
  open(cwd?: string): Promise<Conversation>;
  /** For a session that is open or opening. */
  conversation(id: string): Conversation;
  /** A request past the library, which hides some responses and sends nothing invalid. */
  raw(method: string, params?: unknown): Promise<Line>;
  sendRaw(text: string): void;
  /** The agent's first line at or after a position, past or future. */
  line(holds: (message: Line) => boolean, from?: number): Promise<Line>;
  kill(signal: NodeJS.Signals): void;
  /** Disconnects, waits for the agent's exit, and checks that nothing is left of it. */
  close(): Promise<Ended>;
  /** Resolves when the agent is gone, for whatever reason. */
  ended(): Promise<Ended>;
}

export interface Conversation {
  readonly id: string;
  readonly state: NewSessionResponse;
  /** All updates so far. */
  readonly updates: readonly SessionUpdate[];
  prompt(input: string | ContentBlock[]): Promise<Turn>;
  /** Any other request about it, with the updates before its response. */
  request(method: string, params?: object): Promise<Answered>;
  cancel(): Promise<void>;
  /** The first update at or after a position, past or future. */
  update(holds: (update: SessionUpdate) => boolean, from?: number): Promise<SessionUpdate>;
}

export interface Turn {
  readonly response: PromptResponse;
  /** The updates between the prompt and its response. */
  readonly updates: readonly SessionUpdate[];
}

export interface Answered {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly updates: readonly SessionUpdate[];
}

const patienceMs = 15_000;

export async function openEditor(source: Source, bench: Bench, options: EditorOptions = {}): Promise<Editor> {
  const backend = source === "adapter" ? ["--backend", "tinman"] : [];
  const command = options.command ?? ["acp", ...backend];
  const child = bench.start(
    [...command, ...(options.args ?? [])],
    options.env === undefined ? {} : { env: options.env },
  );
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("The program was started without pipes.");
  const checker = createWireChecker();
  const lines: { from: Side; message: Line }[] = [];
  const faults: string[] = [];
  const watchers = new Set<() => void>();
  const updates = new Map<string, SessionUpdate[]>();
  const ownIds = new Set<unknown>();
  const taken = new Set<Line>();
  let delivered = 0;
  let errors = "";
  let ended: Ended | undefined;

  const changed = (): void => {
    for (const look of [...watchers]) look();
  };
  function tapped(from: Side, text: string, isChecked = true): Line | undefined {
    let message: Line;
    try {
      message = JSON.parse(text) as Line;
    } catch {
      if (isChecked) faults.push(`${from}: no JSON: ${text.slice(0, 200)}`);
      return undefined;
    }
    const fault = checker.fault(from, message);
    if (isChecked && fault !== undefined) faults.push(`${from}: ${fault.slice(0, 1_000)}\n${text.slice(0, 1_000)}`);
    lines.push({ from, message });
    if (message.method === methods.client.session.update && from === "agent") {
      const { sessionId, update } = message.params as unknown as { sessionId: string; update: SessionUpdate };
      updates.set(sessionId, [...(updates.get(sessionId) ?? []), update]);
    }
    return message;
  }

  const fromAgent = new Readable({ read: () => undefined });
  let rest = "";
  stdout.setEncoding("utf8");
  stdout.on("data", (text: string) => {
    const [last = "", ...whole] = (rest + text).split("\n").reverse();
    rest = last;
    for (const line of whole.reverse()) {
      const message = tapped("agent", line);
      const isOurs = message?.method === undefined && (message?.id === null || ownIds.has(message?.id));
      if (!isOurs) fromAgent.push(`${line}\n`);
    }
    changed();
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  stdin.on("error", () => undefined);
  const over = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => {
      if (rest !== "") faults.push(`agent: half a line: ${rest.slice(0, 200)}`);
      ended = { code, signal, stderr: errors };
      fromAgent.push(null);
      resolve(ended);
      changed();
    });
  });

  /** Checked again whenever something arrives. */
  function found<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        watchers.delete(watch);
      };
      const fail = (why: string): void => {
        stop();
        const last = lines.slice(-8).map(({ from, message }) => `  ${from} ${JSON.stringify(message).slice(0, 400)}`);
        reject(new Error([`${why}, while waiting for ${what}`, ...last, errors.slice(-1_000)].join("\n")));
      };
      const watch = (): void => {
        const value = look();
        if (value === undefined && ended === undefined) return;
        stop();
        if (value !== undefined) resolve(value);
        else fail("the program has ended");
      };
      const timer = setTimeout(() => fail("nothing came"), patienceMs);
      watchers.add(watch);
      watch();
    });
  }

  /** A session's updates between a request and its response, as on the wire. */
  function answeredBehind(from: number, method: string, sessionId: string): readonly SessionUpdate[] {
    const asked = lines.findIndex(
      ({ from: side, message }, place) =>
        place >= from &&
        side === "client" &&
        message.method === method &&
        message.params?.sessionId === sessionId &&
        !taken.has(message),
    );
    const request = lines[asked]?.message;
    if (request === undefined) throw new Error(`${method} was not seen on the wire.`);
    taken.add(request);
    const answered = lines.findIndex(
      ({ from: side, message }) => side === "agent" && message.method === undefined && message.id === request.id,
    );
    return lines.slice(asked, answered).flatMap(({ from: side, message: { method: name, params } }) => {
      const isUpdate = side === "agent" && name === methods.client.session.update && params?.sessionId === sessionId;
      return isUpdate ? [params.update as SessionUpdate] : [];
    });
  }

  const permissions: RequestPermissionRequest[] = [];
  const elicitations: CreateElicitationRequest[] = [];
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, () => {
      delivered += 1;
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      permissions.push(params);
      changed();
      return editor.permit(params, signal);
    })
    .onRequest(methods.client.elicitation.create, ({ params, signal }) => {
      elicitations.push(params);
      changed();
      return editor.elicit(params, signal);
    });
  const toAgent = new WritableStream<Uint8Array>({
    write(chunk) {
      for (const line of Buffer.from(chunk).toString().split("\n").filter(Boolean)) tapped("client", line);
      stdin.write(chunk);
    },
  });
  const connection = app.connect(ndJsonStream(toAgent, Readable.toWeb(fromAgent) as ReadableStream<Uint8Array>));
  const { agent } = connection;

  function conversation(id: string, state: NewSessionResponse = { sessionId: id }): Conversation {
    const told = (): readonly SessionUpdate[] => updates.get(id) ?? [];
    async function request(method: string, params: object = {}): Promise<Answered> {
      const from = lines.length;
      const answer = await agent.request<Answered["answer"]>(method, { ...params, sessionId: id });
      return { answer, updates: answeredBehind(from, method, id) };
    }
    return {
      id,
      state,
      get updates() {
        return told();
      },
      async prompt(input) {
        const prompt = typeof input === "string" ? [{ type: "text" as const, text: input }] : input;
        const { answer, updates } = await request(methods.agent.session.prompt, { prompt });
        return { response: answer as unknown as PromptResponse, updates };
      },
      request,
      cancel: () => agent.notify(methods.agent.session.cancel, { sessionId: id }),
      update: (holds, from = 0) => found(() => told().slice(from).find(holds), "an update"),
    };
  }

  const editor: Editor = {
    agent,
    hello: { protocolVersion: 0 },
    lines,
    faults,
    permissions,
    elicitations,
    permit: () => ({ outcome: { outcome: "cancelled" } }),
    elicit: () => ({ action: "cancel" }),
    conversation,
    async open(cwd = bench.cwd) {
      const state = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      const opened = conversation(state.sessionId, state);
      await opened.update(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
      return opened;
    },
    raw(method, params) {
      const id = `raw-${ownIds.size + 1}`;
      ownIds.add(id);
      const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      tapped("client", text, false);
      stdin.write(`${text}\n`);
      return editor.line((message) => message.method === undefined && message.id === id);
    },
    sendRaw: (text) => void stdin.write(text),
    line: (holds, from = 0) =>
      found(
        () => lines.slice(from).find((line) => line.from === "agent" && holds(line.message))?.message,
        "a line of the agent",
      ),
    kill: (signal) => void child.kill(signal),
    ended: () => found(() => ended, "its end").finally(() => child.kill("SIGKILL")),
    async close() {
      stdin.end();
      const end = await editor.ended();
      connection.close();
      const left = await thatStay(bench.root);
      if (left.length > 0) faults.push(`${left.length} processes were left`);
      const sent = [...updates.values()].flat().length;
      if (delivered !== sent) faults.push(`the library has delivered ${delivered} of ${sent} updates`);
      if (faults.length > 0) throw new Error(faults.join("\n"));
      return end;
    },
  };
  void over;
  if (options.isSilent === true) return editor;
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: "test", version: "1" },
    clientCapabilities: options.capabilities ?? {},
  });
  return Object.assign(editor, { hello });
}

/** The error of a rejected request. */
export async function refusal(request: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> {
  const outcome = await request.then(
    (value) => new Error(`It was answered: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof RequestError) return { code: outcome.code, message: outcome.message };
  throw outcome;
}

/** Updates of one kind. */
export function only<K extends SessionUpdate["sessionUpdate"]>(
  updates: readonly SessionUpdate[],
  kind: K,
): readonly Extract<SessionUpdate, { sessionUpdate: K }>[] {
  return updates.filter((each) => each.sessionUpdate === kind) as Extract<SessionUpdate, { sessionUpdate: K }>[];
}

/** The agent's text or thoughts, joined. */
export function textOf(
  updates: readonly SessionUpdate[],
  kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" = "agent_message_chunk",
): string {
  return only(updates, kind)
    .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
    .join("");
}

/** Chooses the option with this id, or of this kind, in every request. */
export function choosing(optionOrKind: string): Permit {
  return ({ options }) => {
    const option = options.find(({ optionId, kind }) => optionId === optionOrKind || kind === optionOrKind);
    return { outcome: { outcome: "selected", optionId: option?.optionId ?? optionOrKind } };
  };
}
