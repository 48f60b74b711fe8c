import type { Containment } from "../../src/engine/containment.ts";
import type { Answer, Interaction } from "../../src/engine/interaction.ts";
import type { Preview } from "../../src/engine/permission.ts";
import type { Host } from "../../src/engine/ports.ts";
import type { ToolBody, ToolContext, ToolOutput } from "../../src/engine/tool.ts";

export interface TestContext extends ToolContext {
  readonly seenFiles: Map<string, string>;
  readonly shown: string[];
  readonly asked: Interaction[];
}

/** A context in `/project` whose questions get `answer`; without one there is no user. */
export function createContext(
  host: Host,
  options: {
    readonly answer?: Answer;
    readonly signal?: AbortSignal;
    readonly protectedPlaces?: readonly string[];
    readonly walls?: Containment;
  } = {},
): TestContext {
  const shown: string[] = [];
  const asked: Interaction[] = [];
  return {
    sessionId: "s1",
    callId: "c1",
    cwd: "/project",
    home: "/home/u",
    host,
    accesses: [],
    signal: options.signal ?? new AbortController().signal,
    mode: "spec",
    seenFiles: new Map(),
    protectedPlaces: options.protectedPlaces ?? [],
    progress: (text) => void shown.push(text),
    async ask(interaction) {
      asked.push(interaction);
      return options.answer;
    },
    ...(options.walls === undefined ? {} : { walls: options.walls }),
    shown,
    asked,
  };
}

/** The result for clients. */
export function asClientsSee({ forModel: _, ...output }: ToolOutput): ToolOutput {
  return output;
}

/** Like the engine: parses the arguments and resolves the accesses, which `run` and `preview` then get. */
export async function decidedCall<Context extends ToolContext>(tool: ToolBody, given: unknown, context: Context) {
  const input = tool.input.parse(given);
  const accesses = await tool.access(input, context);
  return { input, accesses, context: { ...context, accesses } };
}

/** Like the engine: parse, resolve the accesses, run. */
export async function call(tool: ToolBody, given: unknown, context: ToolContext): Promise<ToolOutput> {
  const decided = await decidedCall(tool, given, context);
  return tool.run(decided.input, decided.context);
}

/** The preview for an approver. */
export async function previewOf(tool: ToolBody, given: unknown, context: ToolContext): Promise<Preview | undefined> {
  const decided = await decidedCall(tool, given, context);
  return tool.preview?.(decided.input, decided.context);
}
