import type { EngineEvent, SettingsChanges } from "../../../engine/event.ts";
import type { Answer, Interaction, PersonalInteraction } from "../../../engine/interaction.ts";
import type { Dialect, Vocabulary } from "../dialect.ts";
import type { Outbox } from "../outbox.ts";
import { optionOf } from "./answers.ts";
import { permissionParams, questionParams } from "./permission-request.ts";

/** The open requests to a client. */
export function createOpenRequests(parts: {
  readonly dialect: Dialect;
  readonly vocabulary: Vocabulary;
  readonly outbox: Outbox;
  readonly already: ReadonlyMap<string, Interaction> | undefined;
  change(changes: SettingsChanges): void;
}) {
  const { tell, ask, enter } = parts.outbox;
  const requests = new Map<string, PersonalInteraction>();
  for (const [id, interaction] of parts.already ?? []) if (interaction.kind !== "tool") requests.set(id, interaction);
  return {
    get size(): number {
      return requests.size;
    },
    open(id: string, interaction: Interaction) {
      // Meant for the client that runs the tools.
      if (interaction.kind === "tool") return;
      requests.set(id, interaction);
      enter("waiting_for_tool_confirmation");
      if (interaction.kind === "question") ask({ id, method: "droid.ask_user", params: questionParams(interaction) });
      else ask({ id, method: "droid.request_permission", params: permissionParams(interaction, parts) });
    },
    close({ requestId, answer, changes = {} }: EngineEvent & { readonly type: "request.closed" }) {
      const interaction = requests.get(requestId);
      requests.delete(requestId);
      const isSettingsFirst = parts.dialect === "early" && interaction?.kind === "plan";
      if (isSettingsFirst) parts.change(changes);
      if (interaction !== undefined && interaction.kind !== "question") {
        const toolUseIds = allowedCalls(interaction, answer);
        tell({
          type: "permission_resolved",
          requestId,
          toolUseIds,
          selectedOption: optionOf(answer, parts.vocabulary),
        });
      }
      if (!isSettingsFirst) parts.change(changes);
      // After a rejection the state changes only if other calls run. Their own events report that.
      if (requests.size === 0 && answer.kind !== "cancel") enter("executing_tool");
    },
    clear: () => requests.clear(),
  };
}

function allowedCalls(interaction: Exclude<PersonalInteraction, { kind: "question" }>, answer: Answer): string[] {
  if (interaction.kind === "plan") return answer.kind === "approve" ? [interaction.callId] : [];
  return answer.kind === "allow" ? interaction.calls.map(({ call }) => call.id) : [];
}
