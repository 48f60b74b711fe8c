import type { Interaction } from "../../../engine/interaction.ts";
import { type Decision, levelToAlwaysAllow, type ServerCall } from "../../../engine/permission.ts";
import type { PermissionOption } from "../../../protocol/droid/server-requests.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";
import type { Vocabulary } from "../dialect.ts";

export type AskedCall = (Interaction & { kind: "permission" })["calls"][number];
type Level = NonNullable<Decision["always"]>;

/** Length limit for a tool's own name in a label. */
const maxToolName = 100;

const amber = "#E3992A";
const red = "#E54048";
const cross = "✕ ";

const alwaysAllowed: Readonly<Record<Level, string>> = {
  low: "low impact commands (file edits and read-only commands)",
  medium: "medium impact commands (all commands that are reversible)",
  high: "high impact commands (all commands)",
};

export function offersAlways(calls: readonly AskedCall[]): boolean {
  return alwaysLevel(calls) !== undefined;
}

function alwaysLevel(calls: readonly AskedCall[]): Level | undefined {
  return levelToAlwaysAllow(calls.map(({ decision }) => decision));
}

export function callOptions(calls: readonly AskedCall[], vocabulary: Vocabulary): PermissionOption[] {
  const all = calls.length > 1 ? " all" : "";
  return [
    { label: `Yes, allow${all}`, value: "proceed_once", selectedColor: amber },
    ...alwaysOptions(calls, vocabulary).map((option) => ({ ...option, selectedColor: amber })),
    { label: `No, cancel${all}`, value: "cancel", selectedColor: red, selectedPrefix: cross },
  ];
}

/** With a server's tool among the calls, "always" is about servers' tools alone; the others are allowed once. */
function alwaysOptions(
  calls: readonly AskedCall[],
  { serverChoices }: Vocabulary,
): readonly Pick<PermissionOption, "label" | "value">[] {
  const ofServers = calls.flatMap(({ decision }) => decision.server ?? []);
  const always = (what: string): string => `Yes, and always allow ${what}`;
  if (ofServers.length > 0) {
    const label = always(toolsIn(ofServers));
    if (!serverChoices) return [{ label, value: "proceed_always" }];
    return [
      { label, value: "proceed_always_tools" },
      { label: always(serversIn(ofServers)), value: "proceed_always_server" },
    ];
  }
  const level = alwaysLevel(calls);
  return level === undefined ? [] : [{ label: always(alwaysAllowed[level]), value: "proceed_always" }];
}

/** In quotes, because the names are the servers' own words. */
function toolsIn(calls: readonly ServerCall[]): string {
  const byServer = new Map<string, Set<string>>();
  for (const { server, tool } of calls) byServer.set(server, (byServer.get(server) ?? new Set()).add(quoted(tool)));
  return listed([...byServer].map(([server, tools]) => `${listed([...tools])} of ${quoted(server)}`));
}

function serversIn(calls: readonly ServerCall[]): string {
  return `all tools of ${listed([...new Set(calls.map(({ server }) => quoted(server)))])}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function quoted(name: string): string {
  return JSON.stringify(terminalLine(textStart(name, maxToolName)));
}

export const planOptions: PermissionOption[] = [
  { label: "Proceed with implementation", value: "proceed_once", selectedColor: amber },
  {
    label: "Proceed, and allow file edits and read-only commands (Low)",
    value: "proceed_auto_run_low",
    selectedColor: amber,
  },
  {
    label: "Proceed, and allow reversible commands (Medium)",
    value: "proceed_auto_run_medium",
    selectedColor: amber,
  },
  { label: "Proceed, and allow all commands (High)", value: "proceed_auto_run_high", selectedColor: red },
  { label: "No, keep iterating on spec", value: "cancel", selectedColor: red, selectedPrefix: cross },
];
