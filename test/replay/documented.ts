import { isDeepStrictEqual } from "node:util";
import type { Predicate, Reason } from "./predicates.ts";
import {
  all,
  any,
  askingLines,
  asksFor,
  changed,
  contains,
  extra,
  inTraces,
  inTurn,
  isAbsent,
  isAdded,
  missing,
  moved,
  notice,
  permission,
  response,
  state,
  turnsFrom,
  usage,
  wholeTurn,
  wordsOf,
} from "./predicates.ts";

const notThereYet = [
  "droid.kill_worker_session",
  "droid.set_skill_disabled",
  "droid.get_rewind_info",
  "droid.execute_rewind",
  "droid.warmup_cache",
];

const isSameId: Predicate = all(inTraces("04_parallel_once"), inTurn("5"));
const isUnknownMode = (mode: unknown): boolean => ["agi", "mission", "bogus"].includes(String(mode));
const unusable = "The working directory (cwd) cannot be used.";
/** We answered its request with an error that starts like this. */
const refusedWith =
  (...starts: readonly string[]): Predicate =>
  ({ refusal, request }) =>
    refusal !== undefined &&
    JSON.stringify(request?.params).includes("../evil") === false &&
    starts.some((start) => refusal.startsWith(start));
const opening = ["droid.initialize_session", "droid.load_session"];
const isOpening: Predicate = ({ request }) => opening.includes(String(request?.method));
const nothingConnected = contains('"summary":{"total":0,');
const resultText = notice("content");
const historyOf = (path: string): RegExp => new RegExp(`^result\\.session\\.messages\\.N\\.${path}$`);
const withoutReminders = (content: unknown): unknown => {
  if (!Array.isArray(content)) return content;
  return content.filter(({ text }: { text?: string }) => text?.startsWith("<system-reminder>") !== true);
};
const isUnsigned = (_: unknown, ours: unknown): boolean => ours === "" || ours === undefined;
const isSystem = (id: unknown): boolean => String(id).startsWith("<system ");
const begins =
  (theirStart: string, ourStart: string) =>
  (theirs: unknown, ours: unknown): boolean =>
    String(theirs).startsWith(theirStart) && String(ours).startsWith(ourStart);

/* Differences documented in docs/stream-jsonrpc.md ("Differences from droid exec", "Not there yet", or by subject). */

export const documented: readonly Reason[] = [
  {
    name: "not there yet: methods answer -32601",
    docs: "These methods of the later dialect answer -32601",
    explains: response(notThereYet, (_, { error }) => error?.code === -32601 || error?.code === -32600),
  },
  {
    name: "difference: compaction needs no service, and keeps the session",
    docs: "`newSessionId` (the same session)",
    explains: any(
      response(["droid.compact_session"], (_, { result }) => result !== undefined),
      all(missing("settings_updated"), ({ request }) => request?.method === "droid.compact_session"),
      extra("session_compacted", state("compacting_conversation")),
      all(inTraces("12_methods"), extra(state("idle"))),
    ),
  },
  {
    name: "difference: the registry of MCP servers is empty",
    docs: "| `list_mcp_registry` | is empty |",
    explains: response(["droid.list_mcp_registry"], (_, { result }) => isDeepStrictEqual(result, { servers: [] })),
  },
  {
    name: "difference: unknown MCP servers and tools are errors",
    docs: "| unknown names of MCP servers and tools | are errors |",
    explains: any(
      response(["droid.toggle_mcp_tool"], (_, ours) => wordsOf(ours) === "MCP tool not found"),
      response(["droid.cancel_mcp_auth"], (_, ours) => wordsOf(ours) === "Server not found"),
      missing("mcp_auth_completed"),
    ),
  },
  {
    name: "difference: the error of an MCP server is its own",
    docs: "| `error` of an MCP server | says why it failed |",
    explains: any(
      changed("response", /^result\.servers\.N\.error$/, begins("Failed to connect", "")),
      changed("response", /^result\.servers\.N\.requiresAuth$/, turnsFrom(false, undefined)),
    ),
  },
  {
    name: 'difference: "always" for MCP tools is about them alone',
    docs: '"always" covers only MCP tools: the level stays',
    explains: all(contains('"confirmationType":"mcp_tool"'), changed(permission, /^params\.options$/)),
  },
  {
    name: "not there yet: skills",
    docs: '`{"skills":[]}`: none yet',
    explains: changed("response", /^result\.skills$/, (_, ours) => JSON.stringify(ours) === "[]"),
  },
  {
    name: "difference: responses have no trace",
    docs: "not on responses: `traceparent`",
    explains: changed("response", /^_meta$/, isAbsent),
  },
  {
    name: "difference: models are those of the configuration",
    docs: "come from the [configuration](models.md)",
    explains: changed("response", /^result\.availableModels$/),
  },
  {
    name: "difference: without a model, the configured one answers",
    docs: "the default model | come from the [configuration](models.md)",
    explains: all(
      inTraces("01_init_minimal"),
      any(
        changed("settings_updated", notice("settings\\.(modelId|reasoningEffort)")),
        changed("response", /^result\.settings\.(modelId|reasoningEffort)$/),
        extra("assistant_text_delta", "create_message assistant", state("idle")),
        changed("end of the process", /^(code|signal)$/),
      ),
    ),
  },
  {
    name: "difference: an effort is stored as requested, and is none by default",
    docs: "defaults to `none` and is stored as requested",
    explains: all(
      inTraces("01_init_variants", "08_settings"),
      any(
        changed("settings_updated", notice("settings\\.reasoningEffort")),
        all(inTraces("08_settings"), changed("settings_updated", notice("settings\\.specModeReasoningEffort"))),
        changed("response", /^result\.settings\.reasoningEffort$/),
        all(extra("settings_updated"), asksFor("specModeReasoningEffort")),
      ),
    ),
  },
  {
    name: "difference: settings are sent once per change, complete",
    docs: "`settings_updated`, `mcp_status_changed`, `tool_result` | come once, and only with something new",
    explains: any(
      all(missing("settings_updated"), isOpening, ({ isSaid }) => isSaid),
      all(
        inTraces("08_settings"),
        missing("settings_updated"),
        any(
          asksFor('{"autonomyLevel":"off"}'),
          asksFor('{"interactionMode":"auto"}'),
          asksFor('{"specModeModelId":"custom:Fake-0"}'),
          asksFor('{"specModeModelId":null}'),
          asksFor('{"tags":[{"name":"t"}]}'),
          asksFor('"interactionMode":"spec","modelId"'),
        ),
      ),
      changed("settings_updated", notice("settings\\.specModeModelId"), turnsFrom(undefined, null)),
      all(
        changed("settings_updated", notice("settings\\.autonomyLevel"), turnsFrom("off", "high")),
        asksFor('"autonomyLevel":"high","interactionMode":"spec"'),
      ),
    ),
  },
  {
    name: "difference: level words of both dialects are understood",
    docs: "Both accept all level words",
    explains: all(
      inTraces("08_settings"),
      any(
        all(
          extra("settings_updated"),
          any(...["auto-low", "spec", "normal"].map((word) => asksFor(`{"autonomyLevel":"${word}"}`))),
        ),
        all(changed("settings_updated", notice("settings\\.autonomyLevel")), asksFor('{"interactionMode":"spec"}')),
      ),
    ),
  },
  {
    name: "difference: unknown words in levels and modes are errors",
    docs: "unknown levels, modes and models, missing folders | are errors",
    explains: any(
      response(["droid.initialize_session", "droid.update_session_settings"], (theirs, ours, { params }) => {
        const { autonomyLevel, interactionMode } = params ?? {};
        const isUnknown = ["bogus", ""].includes(String(autonomyLevel)) || isUnknownMode(interactionMode);
        return theirs.error === undefined && ours.error !== undefined && isUnknown;
      }),
      all(missing("settings_updated"), refusedWith("Invalid request format", "interactionMode ")),
    ),
  },
  {
    name: "difference: an unknown model is an error",
    docs: "unknown levels, modes and models, missing folders | are errors",
    explains: any(
      response(["droid.initialize_session", "droid.update_session_settings"], (theirs, ours) => {
        return theirs.error === undefined && wordsOf(ours).startsWith("Unknown model ");
      }),
      all(missing("settings_updated"), refusedWith("Unknown model ")),
    ),
  },
  {
    name: "difference: an unusable folder is an error",
    docs: "unknown levels, modes and models, missing folders | are errors",
    explains: any(
      response(["droid.initialize_session"], (theirs, ours) => {
        return theirs.error === undefined && wordsOf(ours).startsWith(unusable);
      }),
      all(missing("settings_updated"), refusedWith(unusable)),
    ),
  },
  {
    name: "difference: a session id in use is replaced by a new one",
    docs: "A requested id in use gets a new UUID",
    explains: all(
      inTraces("01_init_ids"),
      changed("response", /^result\.sessionId$/, (theirs) => theirs === "my-session-1"),
    ),
  },
  {
    name: "difference: mcp_status_changed comes once, before the response",
    docs: "the first `mcp_status_changed` precedes the response",
    explains: all(any(missing("mcp_status_changed"), extra("mcp_status_changed")), nothingConnected),
  },
  {
    name: "difference: tokens are reported after every model call, within the turn",
    docs: "after each model call; once in a turn without one",
    explains: any(
      moved(usage),
      extra(usage),
      all(missing(usage), inTraces("01_init_ids", "09_load"), contains('"lastCallTokenUsage":{"inputTokens":0')),
    ),
  },
  {
    name: "difference: a retried call counts all its attempts",
    docs: "Tokens include all attempts",
    explains: all(
      inTraces("11_reasoning"),
      changed(usage, notice("lastCallTokenUsage\\.inputTokens"), turnsFrom(100, 200)),
    ),
  },
  {
    name: "difference: tool_call comes only with something new",
    docs: "one more is complete; all are. Never repeated",
    explains: all(
      missing("tool_call"),
      ({ isSaid }) => isSaid,
      (found) => !isSameId(found),
    ),
  },
  {
    name: "difference: calls that share an id get one id each",
    docs: "two calls with one id | get one id each",
    explains: all(
      isSameId,
      any(
        missing("tool_call"),
        extra("tool_call", "tool_result"),
        changed("tool_result", resultText, begins("dup3", "dup2")),
        changed("create_message assistant", notice("message\\.content")),
      ),
    ),
  },
  {
    name: "difference: progress is sent when a tool prints (timing varies, so only its place is checked)",
    docs: "means output, not that the tool has begun",
    explains: missing("tool_progress_update"),
  },
  {
    name: "difference: calls outside the folder and to the web are asked about",
    docs: "calls outside the folder, calls to the web | are [asked about]",
    explains: all(inTraces("04_tools_shapes_low"), inTurn("4", "5"), extra(...askingLines)),
  },
  {
    name: "difference: an interrupt is answered before its effects",
    docs: "The result `{}` comes first, then what was discarded",
    explains: any(
      all(moved("response"), ({ request }) => request?.method === "droid.interrupt_session"),
      moved("queued_messages_discarded"),
    ),
  },
  {
    name: "difference: a result comes once",
    docs: "`settings_updated`, `mcp_status_changed`, `tool_result` | come once, and only with something new",
    explains: all(inTraces("07_int_tool"), missing("tool_result")),
  },
  {
    name: "difference: messages of role system don't exist",
    docs: "messages of role `system` | don't exist",
    explains: any(
      missing("create_message system"),
      changed("create_message user", notice("message\\.parentId"), isSystem),
      changed("create_message assistant", notice("message\\.parentId"), isSystem),
    ),
  },
  {
    name: "difference: attachments are checked, and passed on unchanged",
    docs: "images and files | are passed on unchanged",
    explains: all(
      inTraces("03_messages"),
      any(
        response(["droid.add_user_message"], (_, ours) => wordsOf(ours) === "files.0: the data is not a PDF"),
        all(wholeTurn, inTurn("10")),
        changed("create_message user", notice("message\\.content\\.N\\.source\\.(mediaType|data)")),
        changed(
          "create_message user",
          notice("message\\.parentId"),
          begins("<assistant of prompt 1.10", "<assistant of prompt 1.7"),
        ),
      ),
    ),
  },
  {
    name: "difference: blocks of a reply keep their order",
    docs: "text, thinking, text | stay three blocks, in order",
    explains: all(
      inTraces("11_reasoning"),
      inTurn("7"),
      any(
        changed("create_message assistant", notice("message\\.content")),
        changed("assistant_text_delta", notice("blockIndex"), turnsFrom(0, 2)),
      ),
    ),
  },
  {
    name: "difference: a reply with only thinking is retried",
    docs: "empty replies, or thinking only | are retried",
    explains: all(
      inTraces("11_reasoning"),
      inTurn("6"),
      any(changed("create_message assistant", notice("message\\.content")), extra("assistant_text_delta")),
    ),
  },
  {
    name: "difference: thinking has the provider's own signature, or an empty one",
    docs: "is the provider's, or empty",
    explains: any(
      changed("create_message assistant", notice("message\\.content\\.N\\.signature(Provider)?"), isUnsigned),
      changed("response", historyOf("content\\.N\\.signature(Provider)?"), isUnsigned),
    ),
  },
  {
    name: "difference: messages of a history have the keys of the notifications",
    docs: "have the keys of `create_message`",
    explains: any(
      changed("response", historyOf("(openaiMessageId|chatCompletionReasoning(Field|Content)|visibility)"), isAbsent),
      changed("response", historyOf("content\\.N\\.isStreaming"), isAbsent),
      changed("response", historyOf("parentId"), isAdded),
    ),
  },
  {
    name: "difference: reminders are our own",
    docs: "reminders are Tinman's own",
    explains: all(
      inTraces("09_load"),
      any(
        changed("response", historyOf("content\\.N\\.text"), begins("<system-reminder>", "<system-reminder>")),
        changed("response", historyOf("content"), (theirs, ours) => {
          return isDeepStrictEqual(withoutReminders(theirs), withoutReminders(ours));
        }),
      ),
    ),
  },
  {
    name: "difference: results are in our own words",
    docs: "tool results, model errors | begin with the same words",
    explains: any(
      changed("tool_result", resultText, turnsFrom("hello", "hello\n")),
      changed("tool_result", resultText, begins("total ", "drwx")),
      changed("tool_result", resultText, begins('{"approved":true,', '{"approved":true,')),
      changed(
        "tool_result",
        resultText,
        begins("Error: Error: Tool cancelled: Spec mode is active", "Error: Spec mode is active:"),
      ),
      changed("tool_result", resultText, begins("Error: Tool execution cancelled", "Error: Tool execution cancelled")),
      changed("error", notice("error\\.name"), turnsFrom("Error", "model_auth")),
      changed("error", notice("(error\\.)?message"), (_, ours) => String(ours).includes("(401): fake 401. ")),
    ),
  },
  {
    name: "difference: command output depends on the machine (here: times and sizes)",
    docs: "tool results, model errors | begin with the same words",
    explains: changed("tool_result", resultText, begins("total ", "total ")),
  },
  {
    name: "difference: load_session of the open session changes nothing, and shows its log",
    docs: "repeats no notifications, and shows the log",
    explains: any(
      all(inTraces("09_load", "09_load_midturn"), missing("session_title_updated")),
      all(inTraces("09_load_midturn"), changed("response", /^result\.session\.messages$/)),
      all(inTraces("09_load_midturn"), moved("response")),
    ),
  },
];
