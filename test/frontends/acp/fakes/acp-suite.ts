import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Bench, createBench } from "../../../e2e/tinman.ts";
import { isFullRun } from "../../../full-run.ts";
import { type Conversation, type Editor, type EditorOptions, openEditor, type Source, sources } from "./acp-client.ts";

/** For what agent and adapter translate with the same code: the short run compares them in one whole conversation. */
export const alikeSources: readonly Source[] = isFullRun ? sources : ["agent"];

export interface Place {
  readonly bench: Bench;
  readonly editor: Editor;
  /** A session that is open from the start, for checks that leave it unchanged. */
  readonly session: Conversation;
}

/** One agent for a suite's checks. A fault on the wire fails the check in which it occurred. */
export function useEditor(source: Source, prepare: (bench: Bench) => Promise<EditorOptions>): () => Place {
  let place: Place | undefined;
  const now = (): Place => {
    if (place === undefined) throw new Error("The editor was not opened.");
    return place;
  };
  beforeAll(async () => {
    const bench = await createBench();
    const editor = await openEditor(source, bench, await prepare(bench));
    place = { bench, editor, session: await editor.open() };
  });
  afterEach(() => {
    const { editor } = now();
    editor.permit = () => ({ outcome: { outcome: "cancelled" } });
    editor.elicit = () => ({ action: "cancel" });
    expect(editor.faults).toEqual([]);
  });
  afterAll(async () => {
    const { bench, editor } = now();
    try {
      expect(await editor.close()).toMatchObject({ code: 0, signal: null });
    } finally {
      await bench.remove();
    }
  });
  return now;
}

type Reply = Readonly<Record<string, unknown>>;

/** When the prompt has this word. */
export function on(user: string, reply: Reply): Reply {
  return { when: { user }, times: "any", ...reply };
}

/** When the prompt has this word, the model calls a tool. */
export function calls(user: string, ...toolCalls: readonly (readonly [name: string, input: Reply])[]): Reply {
  return on(user, { tool_calls: toolCalls.map(([name, input]) => ({ name, input })) });
}

/** The model's answer to everything else. */
export const otherwise: readonly Reply[] = [
  { when: { tool_result: "/^/" }, times: "any", text: "Then this: {{tool_result}}" },
  { times: "any", text: "You said: {{user}}" },
];
