import type { ClientTool, RunOptions, SessionSettings } from "../../engine/settings.ts";
import type { SessionParams, ToolExecution } from "../../protocol/interactive.ts";
import { badParams } from "./failures.ts";
import { type InteractiveOptions, ownSilenceMs } from "./options.ts";

const maxToolCharacters = 200_000;

/** The settings of a new session of `/ws`. Throws for unusable tools. */
export function settingsOf(
  { language, model, context, tools }: SessionParams,
  more: Pick<SessionSettings, "modelId" | "autonomy" | "reasoningEffort"> & {
    readonly userId: string;
    readonly execution: ToolExecution;
  },
): SessionSettings {
  const { execution, modelId, ...usual } = more;
  const told = [
    ...(language ? [`Answer in this language, whatever language the user writes in: ${language}`] : []),
    ...(context ? [`The client's context for this session:\n\n${context}`] : []),
  ];
  const clientTools = clientToolsOf(tools);
  return {
    ...usual,
    modelId: model || modelId,
    ...(model === "offline" ? { isModelNamed: true } : {}),
    mode: "auto",
    ...(told.length === 0 ? {} : { appendSystemPrompt: told.join("\n\n") }),
    ...(clientTools.length === 0 ? {} : { clientTools }),
    ...(execution === "client" ? { clientRunsTools: true } : {}),
  };
}

function clientToolsOf(tools: SessionParams["tools"]): readonly ClientTool[] {
  const names = new Set(tools?.map(({ name }) => name));
  if (names.size !== (tools?.length ?? 0)) throw badParams("tools", "Two tools have the same name.");
  const clientTools = (tools ?? []).map(({ name, description = "", inputSchema = { type: "object" } }) => {
    return { name, description, inputSchema: JSON.stringify(inputSchema) };
  });
  const size = clientTools.reduce((sum, tool) => sum + Object.values(tool).join("").length, 0);
  if (size > maxToolCharacters) {
    throw badParams("tools", `The tools take ${size} characters; the limit is ${maxToolCharacters}.`);
  }
  return clientTools;
}

export function runOptionsOf({ timeouts, limits, run }: InteractiveOptions): RunOptions {
  return {
    ...run,
    onDenied: "continue",
    modelSilence: {
      ms: timeouts.ai ?? ownSilenceMs,
      isChosen: timeouts.ai !== undefined,
      key: "interactive.timeouts.ai",
    },
    toolResultMs: timeouts.toolResult,
    maxWaiting: limits.queuedMessages + 1,
  };
}
