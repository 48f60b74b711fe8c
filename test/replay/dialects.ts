import type { Found } from "./compare.ts";
import type { Predicate, Reason } from "./predicates.ts";
import { all, any, changed, dialect, isAbsent, notice, response, turnsFrom, wordsOf } from "./predicates.ts";

function namesLevel(request: Found["request"]): boolean {
  const params = request?.params ?? {};
  return ["autonomyLevel", "autonomyMode", "interactionMode"].some((key) => key in params);
}

/** The early dialect's word for what was requested; for a loaded session, what theirs has. */
const isEarlyWord: Predicate = (found) => {
  if (found.what !== "changed") return false;
  const { autonomyLevel, autonomyMode, interactionMode } = found.request?.params ?? {};
  if (interactionMode === "spec") return found.ours === "spec";
  const level =
    autonomyLevel ?? autonomyMode ?? (found.request?.method === "droid.load_session" ? found.theirs : "off");
  return found.ours === (earlyWords[String(level)] ?? level);
};
const earlyWords: Readonly<Record<string, string>> = {
  off: "normal",
  low: "auto-low",
  medium: "auto-medium",
  high: "auto-high",
};

const checkedMethods = [
  "droid.initialize_session",
  "droid.load_session",
  "droid.add_user_message",
  "droid.interrupt_session",
  "droid.update_session_settings",
  "droid.add_mcp_server",
];

/* Rows of the dialect table: the observed dialect is neither of ours, but close to the later one. */

export const dialects: readonly Reason[] = [
  {
    name: "dialect: settings in the early vocabulary",
    docs: "always these four: `modelId`, `reasoningEffort`, `autonomyLevel`, `specModeReasoningEffort`",
    explains: all(
      dialect("early"),
      any(
        changed("settings_updated", notice("settings\\.(autonomyMode|interactionMode)"), isAbsent),
        changed("response", /^result\.settings\.(autonomyMode|interactionMode)$/, isAbsent),
        changed("settings_updated", notice("settings\\.specModeReasoningEffort"), turnsFrom(undefined, "none")),
        changed("response", /^result\.settings\.specModeReasoningEffort$/, turnsFrom(undefined, "none")),
        all(
          ({ request }) => namesLevel(request) || request?.method === "droid.load_session",
          isEarlyWord,
          any(
            changed("settings_updated", notice("settings\\.autonomyLevel")),
            changed("response", /^result\.settings\.autonomyLevel$/),
          ),
        ),
      ),
    ),
  },
  {
    name: "dialect: the level when none is sent",
    docs: "default level | that of `--auto`, else `spec`",
    explains: all(
      dialect("early"),
      ({ request }) => !namesLevel(request) && request?.method === "droid.initialize_session",
      any(
        changed("settings_updated", notice("settings\\.autonomyLevel"), turnsFrom("off", "spec")),
        changed("response", /^result\.settings\.autonomyLevel$/, turnsFrom("off", "spec")),
      ),
    ),
  },
  {
    name: "dialect: wrong params are answered with the request's id and a message",
    docs: "| -32602 | later dialect: wrong params",
    explains: response(checkedMethods, (theirs, ours, { method }) => {
      return theirs.error?.code === -32600 && ours.error?.code === -32602 && wordsOf(ours).startsWith(`${method}: `);
    }),
  },
  {
    name: "dialect: an unknown method is -32601 with the id",
    docs: "| -32601 | later dialect: unknown method",
    explains: response(["droid.get_session", "droid.list_sessions", "droid.resolve_quiz"], (theirs, ours) => {
      return theirs.error?.code === -32600 && ours.error?.code === -32601;
    }),
  },
];
