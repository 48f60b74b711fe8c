import type { Composition } from "../../compose.ts";
import { createLogger } from "../../frontends/exec/log.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { ConnectionOptions } from "../../frontends/stream-jsonrpc/context.ts";
import { appendedPrompt } from "../exec/appended-prompt.ts";
import type { GivenSettings } from "../exec/exec-options.ts";
import { givenServers } from "../exec/given-servers.ts";
import { noticeOf, offlineServerNotice } from "../exec/offline-notice.ts";
import { toolNames } from "../exec/tool-names.ts";
import { workingFolder } from "../working-folder.ts";

/** Options of a connection from the command line. Rejects with `usage` or `model_unknown`. */
export async function connectionOptions(
  given: GivenSettings & { readonly cwd?: string; readonly onDenied?: "stop" | "continue" },
  composition: Composition,
  io: Io,
): Promise<ConnectionOptions> {
  const { engine, defaultModel, modelOverride, repositoryName } = composition;
  const appendSystemPrompt = await appendedPrompt(given);
  const { reasoningEffort, specModel, specReasoningEffort, auto, useSpec, onDenied } = given;
  const cwd = given.cwd === undefined ? undefined : workingFolder(given.cwd);
  const modelId = modelOverride === undefined ? (given.model ?? defaultModel) : defaultModel;
  await engine.checkModels({ modelId, ...(specModel === undefined ? {} : { specModelId: specModel }) });
  const log = createLogger(io.stderr, given.logLevel);
  const notice = await offlineServerNotice(given, composition);
  const servers = await givenServers(given, log.warn);
  let isTold = false;
  return {
    defaults: {
      modelId,
      reasoningEffort: reasoningEffort ?? "none",
      ...(specModel === undefined ? {} : { specModelId: specModel }),
      ...(specReasoningEffort === undefined ? {} : { specReasoningEffort }),
      ...(appendSystemPrompt === undefined ? {} : { appendSystemPrompt }),
      ...(auto === undefined ? {} : { autonomy: auto }),
      ...(useSpec === undefined ? {} : { spec: useSpec }),
      ...(cwd === undefined ? {} : { cwd }),
    },
    run: {
      unsafe: given.skipPermissionsUnsafe ?? false,
      ...(onDenied === undefined ? {} : { onDenied }),
      enabledTools: toolNames(given.enabledTools ?? [], engine.tools),
      disabledTools: toolNames(given.disabledTools ?? [], engine.tools),
      ...noticeOf(notice),
      ...servers,
    },
    folder: workingFolder,
    repository: repositoryName,
    log: {
      warn: log.warn,
      async event(event) {
        // Clients have their own messages about servers.
        if (event.type === "servers.changed" || event.type === "sign-in.required") return;
        // Skip this notice if `onDefaultModel` has printed it.
        if (isTold && event.type === "notice" && event.code === "unasked_model") return;
        await log.event(event);
      },
    },
    onDefaultModel: async () => {
      if (notice === undefined || isTold) return;
      isTold = true;
      await log.always(notice.text);
    },
  };
}
