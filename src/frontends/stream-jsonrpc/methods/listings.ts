import { isOffered, toolsOf } from "../../../engine/calls/offered-tools.ts";
import type { ContextPart } from "../../../engine/context/budget.ts";
import { toolTokens } from "../../../engine/context/tokens.ts";
import type { ModelInfo } from "../../../engine/ports.ts";
import { argumentHint, commandName } from "../../../engine/servers/prompt-arguments.ts";
import type { Session } from "../../../engine/session/session.ts";
import type { AvailableModel } from "../../../protocol/droid/models.ts";
import type { ListModelsParams, ListToolsParams } from "../../../protocol/droid/params.ts";
import type {
  ContextBreakdownResult,
  ContextStatsResult,
  ListCommandsResult,
  ListModelsResult,
  ListToolsResult,
} from "../../../protocol/droid/results.ts";
import type { ModelProvider } from "../../../protocol/droid/words.ts";
import type { Context } from "../context.ts";
import type { Sessions } from "../sessions.ts";
import { filtersIn, isAllowedUnder } from "./tool-filters.ts";

/** Also works before any session. `modelId`: the tools on offer depend on the model. */
export async function listTools(params: ListToolsParams, context: Context): Promise<ListToolsResult> {
  const { engine, live, options } = context;
  const modelId = params.modelId ?? live?.session.settings.modelId ?? options.defaults.modelId;
  const ofServers = live?.session.servers?.list() ?? [];
  const tools = toolsOf([...engine.tools, ...ofServers], await engine.model(modelId));
  const mode = live?.session.settings.mode;
  const offered = mode === undefined ? tools : tools.filter((tool) => isOffered(tool, mode));
  const isAllowed = isAllowedUnder({ ...live?.filters, ...filtersIn(params) }, options.run);
  const listed = offered.map(({ name, title, description, kind }) => ({
    id: name,
    llmId: name,
    displayName: title,
    description,
    category: kind,
    defaultAllowed: true,
    currentlyAllowed: isAllowed(name),
  }));
  return { tools: listed };
}

/** The prompts of the session's servers. */
export async function listCommands(_: object, { live }: Context): Promise<ListCommandsResult> {
  const commands = (live?.session.servers?.prompts() ?? []).flatMap((prompt) => {
    const name = commandName(prompt);
    const hint = argumentHint(prompt);
    const { description = `The prompt ${prompt.name} of the MCP server ${prompt.server}` } = prompt;
    return name === undefined ? [] : [{ name, description, ...(hint === "" ? {} : { argumentHint: hint }) }];
  });
  return { commands };
}

export async function listModels({ includeDisabled }: ListModelsParams, context: Context): Promise<ListModelsResult> {
  const models = await availableModels(context.sessions);
  if (includeDisabled !== true) return { models };
  const unusable = await context.engine.unusableModels();
  const disabled = unusable.map(({ info, problem }) => {
    return { ...availableModel(info), disabled: true, disabledReason: problem };
  });
  return { models: [...models, ...disabled] };
}

export async function availableModels(sessions: Sessions): Promise<AvailableModel[]> {
  return (await sessions.models()).map(availableModel);
}

const knownProviders: readonly ModelProvider[] = ["anthropic", "openai", "google", "xai"];

function availableModel(model: ModelInfo): AvailableModel {
  const { id, displayName, provider } = model;
  const [firstEffort = "none"] = model.reasoningEfforts;
  return {
    id,
    modelId: id,
    modelProvider: knownProviders.find((known) => known === provider) ?? "generic-chat-completion-api",
    displayName,
    shortDisplayName: displayName,
    supportedReasoningEfforts: model.reasoningEfforts.length === 0 ? ["none"] : [...model.reasoningEfforts],
    defaultReasoningEffort: model.reasoningEfforts.includes("none") ? "none" : firstEffort,
    deprecated: false,
    noImageSupport: !model.images,
    supportsPDFs: model.documents ?? false,
    tokenMultiplier: 1,
    isCustom: false,
  };
}

export async function contextStats(session: Session): Promise<ContextStatsResult> {
  const { tokens, budget } = await session.contextUse();
  const { window, reserve } = budget;
  return {
    used: tokens,
    remaining: Math.max(0, window - tokens),
    limit: window,
    reserve,
    accuracy: "estimated",
    updatedAt: new Date().toISOString(),
  };
}

const categories: { readonly [Kind in ContextPart]: { readonly name: string; readonly colorKey: string } } = {
  system: { name: "System prompt", colorKey: "systemPrompt" },
  tools: { name: "Tools", colorKey: "tools" },
  notes: { name: "Summary", colorKey: "summary" },
  kept: { name: "Kept word for word", colorKey: "kept" },
  prompts: { name: "Prompts", colorKey: "userMessages" },
  replies: { name: "Replies", colorKey: "assistantMessages" },
  results: { name: "Tool results", colorKey: "toolResults" },
};

export async function contextBreakdown(session: Session): Promise<ContextBreakdownResult> {
  const { model, tokens, budget, parts, isShortened } = await session.contextUse();
  const specs = session.toolSpecs(model);
  const used = parts.flatMap(({ kind, tokens: own }) => {
    const { name, colorKey } = categories[kind];
    return own === 0
      ? []
      : [{ name: kind === "kept" && isShortened ? `${name} (shortened)` : name, tokens: own, colorKey }];
  });
  return {
    modelId: model.id,
    modelDisplayName: model.displayName,
    contextBudget: budget.window,
    usedTokens: tokens,
    freeTokens: Math.max(0, budget.window - budget.reserve - tokens),
    categories: [...used, { name: "Reserved for the answer", tokens: budget.reserve, colorKey: "reserve" }],
    skills: [],
    mcpServers: session.serverStates().flatMap(({ name }) => {
      const own = specs.filter((spec) => spec.name.startsWith(`${name.replace(/[^A-Za-z0-9_-]/g, "_")}___`));
      const tools = own.reduce((sum, spec) => sum + toolTokens(spec), 0);
      return own.length === 0 ? [] : [{ name, toolCount: own.length, tokens: tools }];
    }),
    droids: [],
  };
}
