import type { Reason } from "./predicates.ts";
import {
  all,
  any,
  changed,
  contains,
  extra,
  inTraces,
  inTurn,
  isAdded,
  notice,
  permission,
  response,
  usage,
  wholeTurn,
  wordsOf,
} from "./predicates.ts";

const servedHere = [
  "droid.list_tools",
  "droid.list_models",
  "droid.list_commands",
  "droid.get_context_stats",
  "droid.get_context_breakdown",
  "droid.close_session",
  "droid.rename_session",
];

/* Our additions to what was seen. */

export const additions: readonly Reason[] = [
  {
    name: "addition: agent_turn_completed",
    docs: "| `agent_turn_completed` | a turn is over; exactly once",
    explains: extra("agent_turn_completed"),
  },
  {
    name: "addition: the end of a block is reported",
    docs: "`assistant_text_complete`, `thinking_text_complete` | that block is whole",
    explains: extra("assistant_text_complete", "thinking_text_complete"),
  },
  {
    name: "addition: data.requestId beside a null id",
    docs: "With a null id, `error.data.requestId` is the request's id",
    explains: changed("response", /^error\.data$/, (theirs, ours) => {
      return theirs === undefined && typeof (ours as { requestId?: unknown }).requestId === "string";
    }),
  },
  {
    name: "addition: data.code of an error",
    docs: "`error.data.code` is an [error code](errors.md), if any",
    explains: changed("response", /^error\.data$/, (theirs, ours) => {
      return theirs === undefined && (ours as { code?: unknown }).code === "usage";
    }),
  },
  {
    name: "addition: the reason why a call needs approval",
    docs: "`riskLevelReason`: Tinman's own description",
    explains: changed(permission, /^params\.toolUses\.N\.details\.riskLevelReason$/, isAdded),
  },
  {
    name: "addition: more about MCP servers and their tools",
    docs: "`isReadOnly` (the server's word)",
    explains: any(
      changed("response", /^result\.servers\.N\.toolCount$/, isAdded),
      changed("response", /^result\.tools\.N\.isReadOnly$/, isAdded),
      changed(permission, /^params\.toolUses\.N\.details\.(serverName|actualToolName)$/, isAdded),
      all(response(["droid.submit_mcp_auth_error"], (_, { result }) => result !== undefined)),
    ),
  },
  {
    name: "addition: output tokens of the last call",
    docs: '"lastCallTokenUsage":{"inputTokens":3768,"cacheReadTokens":0,"outputTokens":15}',
    explains: changed(usage, notice("lastCallTokenUsage\\.outputTokens"), isAdded),
  },
  {
    name: "addition: methods of newer servers",
    docs: "### Other methods",
    explains: any(
      response(servedHere, (theirs) => theirs.id === null && theirs.error?.code === -32600),
      all(extra("session_title_updated"), contains('"title":"New title"')),
    ),
  },
  {
    name: "addition: close_session closes",
    docs: "Work is interrupted; the process waits for the next session",
    explains: all(
      inTraces("12_methods"),
      any(
        all(wholeTurn, inTurn("37")),
        response(["droid.add_user_message"], (_, ours) => wordsOf(ours).startsWith("No active session.")),
      ),
    ),
  },
  {
    name: "addition: a long first message also gives a title",
    docs: "sets the title, cut if long",
    explains: all(extra("session_title_updated"), contains('"title":"SCRIPT#')),
  },
  {
    name: "addition: load_session has the title",
    docs: '"title": "The password is DOLPHIN-2288. Just reply OK."',
    explains: changed("response", /^result\.session\.title$/, isAdded),
  },
  {
    name: "addition: settings have the tags",
    docs: "`systemPrompt`, `tags`, the tool filters |",
    explains: changed("settings_updated", notice("settings\\.tags"), isAdded),
  },
  {
    name: "addition: the request id of a discarded message",
    docs: "an interrupt dropped a queued message | `text`, `requestId`",
    explains: changed("queued_messages_discarded", notice("requestId"), isAdded),
  },
];
