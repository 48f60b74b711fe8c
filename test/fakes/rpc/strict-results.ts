/** Results by method. */
import { z } from "zod";
import {
  count,
  flag,
  gitRepo,
  imageSource,
  lastCallTokenUsage,
  mcpConfig,
  mcpServer,
  mcpSummary,
  message,
  model,
  settings,
  text,
  texts,
  tokenUsage,
} from "./strict-objects.ts";
import { askedQuestions, askedTools, permissionOptions } from "./strict-requests.ts";
import * as words from "./strict-words.ts";

const nothing = z.looseObject({});
const success = z.looseObject({ success: flag });
const session = z.looseObject({ messages: z.array(message), title: text.optional() });
const queued = z.looseObject({
  messageId: text.optional(),
  text,
  images: z.array(imageSource).optional(),
  requestId: text,
});

export const resultPayloads = (level: z.ZodType): Readonly<Record<string, z.ZodType>> => {
  const opened = {
    session,
    settings: settings(level),
    mcpServers: z.array(mcpConfig).optional(),
    gitRepo: gitRepo.optional(),
    availableModels: z.array(model).optional(),
  };
  return {
    "droid.initialize_session": z.looseObject({ sessionId: text, ...opened }),
    "droid.load_session": z.looseObject({
      ...opened,
      pendingPermissions: z
        .array(z.looseObject({ requestId: text, toolUses: askedTools, options: permissionOptions }))
        .optional(),
      pendingAskUserRequests: z
        .array(z.looseObject({ requestId: text, toolCallId: text, questions: askedQuestions }))
        .optional(),
      isAgentLoopInProgress: flag.optional(),
      queuedMessages: z.array(queued).optional(),
      cwd: text.optional(),
      tokenUsage: tokenUsage.optional(),
      inclusiveTokenUsage: tokenUsage.optional(),
      lastCallTokenUsage: lastCallTokenUsage.optional(),
      workingState: words.workingState.optional(),
      callingSessionId: text.optional(),
      callingToolUseId: text.optional(),
    }),
    "droid.add_user_message": nothing,
    "droid.interrupt_session": nothing,
    "droid.update_session_settings": nothing,
    "droid.close_session": nothing,
    "droid.fork_session": z.looseObject({ newSessionId: text }),
    "droid.rename_session": success,
    "droid.list_models": z.looseObject({ models: z.array(model) }),
    "droid.list_tools": z.looseObject({
      tools: z.array(
        z.looseObject({
          id: text,
          llmId: text.optional(),
          displayName: text.optional(),
          description: text.optional(),
          category: text.optional(),
          defaultAllowed: flag,
          currentlyAllowed: flag,
        }),
      ),
    }),
    "droid.list_skills": z.looseObject({
      skills: z.array(
        z.looseObject({ name: text, description: text.optional(), location: words.skillLocation, filePath: text }),
      ),
      projectAvailable: flag.optional(),
    }),
    "droid.list_commands": z.looseObject({
      commands: z.array(
        z.looseObject({ name: text, description: text, argumentHint: text.optional(), isExecutable: flag.optional() }),
      ),
    }),
    "droid.get_context_stats": z.looseObject({
      used: count,
      remaining: count,
      limit: count,
      accuracy: words.accuracy,
      updatedAt: text,
    }),
    "droid.compact_session": z.looseObject({ newSessionId: text, removedCount: count }),
    "droid.list_mcp_servers": z.looseObject({ servers: z.array(mcpServer), summary: mcpSummary }),
    "droid.list_mcp_tools": z.looseObject({
      tools: z.array(z.looseObject({ serverName: text, name: text, isEnabled: flag })),
    }),
    "droid.list_mcp_registry": z.looseObject({
      servers: z.array(
        z.looseObject({ name: text, description: text, type: words.mcpServerType, args: texts.optional() }),
      ),
    }),
  };
};
