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
  isAdded,
  missing,
  notice,
  permission,
  response,
  state,
  streaming,
  turnsFrom,
  usage,
  wordsOf,
} from "./predicates.ts";

const unasked: Predicate = ({ asked }) => asked.byThem && !asked.byUs;
const bothAsked: Predicate = ({ asked }) => asked.byThem && asked.byUs;
const isSpecial = inTraces("06_spec_blocked", "12_mcp");
const ordinary: Predicate = (found) => !isSpecial(found);

/*
 * Surprises for clients of `droid exec` that don't happen here. Numbers are stable; missing ones (1, 5, 6, 12 and 17)
 * show in no trace.
 */

export const surprises: readonly Reason[] = [
  {
    name: "surprise 2: a refused message is answered twice",
    docs: "each gets exactly one response",
    explains: any(
      all(missing("response"), inTraces("02_before_init", "03_messages"), ({ request }) => {
        return request?.method === "droid.add_user_message";
      }),
      response(["droid.add_user_message"], (theirs, ours) => {
        return theirs.error === undefined && wordsOf(ours) === "images.0: the data is not valid base64";
      }),
    ),
  },
  {
    name: "surprise 3: the model's word decides the risk of a command",
    docs: "is advice; commands are [read]",
    explains: any(
      all(ordinary, unasked, missing(streaming, ...askingLines)),
      all(extra(...askingLines), inTraces("04_exec_always"), inTurn("6")),
      all(extra(...askingLines), inTraces("06_exit_proceed_auto_run_low"), inTurn("2")),
      changed(permission, /^params\.toolUses\.N\.details\.impactLevel$/, (theirs) => theirs === "low"),
      changed(permission, /^params\.options\.N\.label$/, (theirs, ours) => {
        return [theirs, ours].every((label) => /^Yes, and always allow (low|medium|high) impact /.test(String(label)));
      }),
      all(inTraces("04_exec_always", "06_exit_proceed_auto_run_low"), changed(permission, /^params\.options$/)),
      all(
        inTraces("04_exec_always"),
        changed("permission_resolved", notice("selectedOption"), turnsFrom("proceed_always", "proceed_once")),
      ),
      all(inTraces("04_exec_always"), missing("settings_updated"), inTurn("5")),
      all(
        inTraces("09_load_midturn"),
        response(["droid.load_session"], (_, __, { id }) => id === "6"),
        changed("response", /^result\.(pendingPermissions|isAgentLoopInProgress|tokenUsage\.\w+)$/),
      ),
    ),
  },
  {
    name: "surprise 4: spec mode runs commands",
    docs: "runs nothing that changes something, commands included",
    explains: all(
      inTraces("06_spec_blocked"),
      inTurn("2", "4"),
      any(
        missing(streaming, ...askingLines),
        changed("tool_result", notice("content"), (_, ours) => String(ours).startsWith("Error: Spec mode is active: ")),
        changed("tool_result", notice("isError"), turnsFrom(false, true)),
      ),
    ),
  },
  {
    name: "surprise 7: retries are not reported, and an empty reply ends a turn",
    docs: "are retried, then an error",
    explains: extra("llm_retry"),
  },
  {
    name: "surprise 8: after a broken stream the deltas restart",
    docs: "Deltas add up to the message, even after a retry",
    explains: all(
      inTraces("10_stream_cut"),
      changed(
        "create_message assistant",
        notice("message\\.content\\.N\\.text"),
        turnsFrom("recovered", "partial text recovered"),
      ),
    ),
  },
  {
    name: "surprise 9: interrupted text does not become a message",
    docs: "Partial text is also sent as `create_message`",
    explains: all(inTraces("03_queue_interrupt", "07_int_streaming"), inTurn("2"), extra("create_message assistant")),
  },
  {
    name: "surprise 10: the state is streaming while an approved call runs",
    docs: "After approval or an answer it is `executing_tool`",
    explains: any(
      all(bothAsked, missing(streaming)),
      all(({ asked }) => asked.byUs, extra(state("executing_tool"))),
    ),
  },
  {
    name: "surprise 11: an open question outlives the end of input",
    docs: "plans and questions are cancelled",
    explains: all(
      inTraces("06_spec_blocked"),
      any(
        changed("end of the process", /^(code|signal)$/),
        all(
          inTurn("8"),
          extra(streaming, "tool_result", "assistant_text_delta", "create_message assistant", state("idle")),
        ),
      ),
    ),
  },
  {
    name: "surprise 13: a session id is used unchecked",
    docs: "are checked before they are used in a path",
    explains: all(
      asksFor('"sessionId":"../evil"'),
      any(
        response(["droid.initialize_session"], (theirs) => theirs.error === undefined),
        all(missing("settings_updated"), ({ refusal }) => refusal !== undefined),
      ),
    ),
  },
  {
    name: "surprise 15: tool filters have no effect",
    docs: "`skipPermissionsUnsafe`, tool filters | have an effect",
    explains: all(
      inTraces("08_settings"),
      any(
        changed("settings_updated", notice("settings\\.(enabled|disabled|additional|restrict)ToolIds"), isAdded),
        all(extra("settings_updated"), asksFor("ToolIds")),
      ),
    ),
  },
  {
    name: "surprise 16: a fork moves the process",
    docs: "You stay in the current session; load the new one",
    explains: all(inTraces("12_methods"), missing(usage), contains('"inputTokens":0')),
  },
];
