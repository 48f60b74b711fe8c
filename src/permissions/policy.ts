import type { Containment } from "../engine/containment.ts";
import type {
  Access,
  AccessClass,
  Decision,
  DecisionContext,
  JudgedPart,
  PermissionPolicy,
  Ruling,
  ServerCall,
} from "../engine/permission.ts";
import { lookupKey } from "../engine/permission.ts";
import type { Autonomy } from "../engine/settings.ts";
import { shownWritten } from "../text/shown-name.ts";
import { raised, runsAt, worse } from "./autonomy.ts";
import { namedPlaces } from "./places/named-places.ts";
import { isExpendable, isSettingsPlace, isSystemPlace, scopeOf } from "./places/path-scope.ts";
import { protectedIn, protectedPlaces } from "./places/protected-paths.ts";

interface Judged {
  readonly class: AccessClass;
  /** The class without the model's estimate, if the estimate raised it. */
  readonly own?: AccessClass;
  /** Needs explicit approval at every level. */
  readonly protected: boolean;
  readonly extractedCommands: readonly string[];
  readonly rule: string;
  /** Completes "This call …". */
  readonly does: string;
  readonly isCommand?: true;
  /** Set if the command runs in the sandbox. */
  readonly walls?: Containment;
  readonly server?: ServerCall;
}

/** The parser and the knowledge of programs. Loaded with the first command, because most runs need none. */
interface CommandKnowledge {
  readonly reading: typeof import("./read-command.ts");
  readonly judging: typeof import("./judge-command.ts");
  readonly containing: typeof import("./containment/contained-command.ts");
  readonly rules: typeof import("./rules/rules.ts");
}

async function loadKnowledge(): Promise<CommandKnowledge> {
  const [reading, judging, containing, rules] = await Promise.all([
    import("./read-command.ts"),
    import("./judge-command.ts"),
    import("./containment/contained-command.ts"),
    import("./rules/rules.ts"),
  ]);
  return { reading, judging, containing, rules };
}

/** `shell`: the shell that runs commands. It decides how they are parsed. */
export function createPermissionPolicy(shell: () => "bash" | "sh"): PermissionPolicy {
  // Evidence only exists after a command was read here.
  let known: CommandKnowledge | undefined;
  return {
    protectedPlaces,
    namedPlaces,
    async read(command, places) {
      known ??= await loadKnowledge();
      return known.reading.readCommand(command, places, shell());
    },
    explain(evidence, context) {
      if (known === undefined) return { tree: notRead };
      const tree = known.judging.judgeReading(evidence, context);
      const contained = known.containing.containedCommand(evidence, tree, context);
      return contained === undefined ? { tree } : { tree: contained.judged, walls: contained.walls };
    },
    decide: (accesses, context) => decide(accesses, context, known),
  };
}

function decide(accesses: readonly Access[], context: DecisionContext, known: CommandKnowledge | undefined): Ruling {
  // An allow rule skips a question, but does not turn a change into reading.
  const seen = context.mode === "spec" ? { ...context, rules: { ...context.rules, allow: [] } } : context;
  const judged = accesses.map((access) => judge(access, seen, known)).reduce(worst, harmless);
  const facts = {
    class: judged.class,
    impact: judged.class === "read" ? "low" : judged.class,
    extractedCommands: judged.extractedCommands,
    ...containing(judged, context),
    ...(judged.server === undefined ? {} : { server: judged.server }),
  } as const;
  // A path with a line end must not look like another sentence.
  const what = `${context.tool} ${shownWritten(judged.does)}`;
  const forbidden = forbiddenCommand(accesses, context, known);
  if (forbidden !== undefined) return { ...facts, ...forbidden };
  if (context.mode === "spec" && (judged.class !== "read" || judged.protected)) {
    const why = `Spec mode is active: ${what}, and only reading is allowed until the plan is approved.`;
    return { ...facts, verdict: "refuse", rule: "spec-mode", why };
  }
  if (context.unsafe) return { ...facts, verdict: "allow", rule: "unsafe", why: "This run never asks." };
  if (!judged.protected) {
    if (runsAt(context.autonomy, judged.class)) {
      return { ...facts, verdict: "allow", rule: judged.rule, why: `${what}.` };
    }
    if (isApproved(judged, context)) {
      return { ...facts, verdict: "allow", rule: "approved", why: `The user always allows ${context.tool}.` };
    }
    if (isNamed(context.enabledTools, context.tool)) {
      return {
        ...facts,
        verdict: "allow",
        rule: "enabled-tool",
        why: `${context.tool} is allowed by name for this run.`,
      };
    }
  }
  const advice = sandboxAdvice(accesses, judged, context, known);
  if (context.approver) {
    const why = `${what}.${advice}`;
    return { ...facts, ...alwaysAt(context.autonomy, judged), verdict: "ask", rule: judged.rule, why };
  }
  const why = `${what}. This run has no permission for that and no approver to ask.${advice}`;
  return { ...facts, verdict: "deny", rule: judged.rule, why };
}

function isApproved({ server }: Judged, { approved }: DecisionContext): boolean {
  if (server === undefined || approved === undefined) return false;
  return approved.has(server.marks.server) || approved.has(server.marks.tool);
}

/** Only names of servers' tools can be patterns. */
function isNamed(names: readonly string[], tool: string): boolean {
  return names.some((name) => (name.endsWith("___*") ? tool.startsWith(name.slice(0, -1)) : name === tool));
}

function containing(
  { isCommand, walls }: Judged,
  { sandbox, unsafe }: DecisionContext,
): Pick<Ruling, "contained" | "walls"> {
  if (isCommand !== true || sandbox === undefined) return {};
  return walls === undefined || unsafe ? { contained: false } : { contained: true, walls };
}

/** Advice for a command that would be `medium` in a sandbox, where the sandbox doesn't work. */
function sandboxAdvice(
  accesses: readonly Access[],
  judged: Judged,
  context: DecisionContext,
  known: CommandKnowledge | undefined,
): string {
  if (context.noSandbox === undefined || judged.class !== "high" || judged.protected) return "";
  const sandbox = { isRequired: true, temp: "", hasServers: false, network: "proven", writable: [] } as const;
  const contained = accesses.map((access) => judge(access, { ...context, sandbox }, known)).reduce(worst, harmless);
  return contained.class === "medium" ? ` In a sandbox, medium would be enough. ${context.noSandbox}` : "";
}

/** The level shown to the approver. The model's estimate alone never raises it to `high`: then our own class counts. */
function alwaysAt(level: Autonomy, judged: Judged): Pick<Decision, "always"> {
  const raised = judged.class === "high" ? ownClass(judged) : judged.class;
  // A user who trusts one server does not mean all commands.
  if (judged.server !== undefined) return {};
  return judged.protected || raised === "read" || runsAt(level, raised) ? {} : { always: raised };
}

function ownClass(judged: Judged): AccessClass {
  return judged.own ?? judged.class;
}

/** Texts that must not run, and commands that a rule denies. No level or approval changes that. */
function forbiddenCommand(
  accesses: readonly Access[],
  context: DecisionContext,
  known: CommandKnowledge | undefined,
): Pick<Decision, "verdict" | "rule" | "why"> | undefined {
  for (const access of accesses) {
    const reading = access.type === "command" ? access.evidence?.reading : undefined;
    if (reading === undefined) continue;
    if (reading.refused !== undefined) {
      return { verdict: "refuse", rule: "refused-text", why: `The command was not run: it ${reading.refused}.` };
    }
    const denied = known?.rules.deniedBy(reading.root, context.rules, reading.text);
    if (denied !== undefined && (denied.always || !context.unsafe)) {
      const whose = denied.always ? "an administrator's rule" : "a rule";
      const why = denied.isCertain
        ? `${context.tool} would run a command that ${whose} denies: ${denied.rule}.`
        : `${context.tool} may run a command that ${whose} denies, since not all of it is known in advance: ${denied.rule}.`;
      return { verdict: "deny", rule: "deny-rule", why };
    }
  }
  return undefined;
}

const harmless: Judged = {
  class: "read",
  protected: false,
  extractedCommands: [],
  rule: "no-access",
  does: "changes nothing",
};

function worst(a: Judged, b: Judged): Judged {
  const extractedCommands = [...a.extractedCommands, ...b.extractedCommands];
  const chosen =
    b.protected !== a.protected ? (b.protected ? b : a) : worse(a.class, b.class) === a.class && a !== harmless ? a : b;
  return { ...chosen, class: worse(a.class, b.class), own: worse(ownClass(a), ownClass(b)), extractedCommands };
}

function judge(access: Access, context: DecisionContext, knowledge: CommandKnowledge | undefined): Judged {
  if (access.type === "command") return judgeCommand(access, context, knowledge);
  if (access.type === "fetch") return judgeFetch(access.url);
  if (access.type === "server") return judgeServerCall(access);
  const { met, path, written } = access;
  const known = { ...context, around: met?.around };
  const scope = scopeOf(path, known, access.type);
  const base: AccessClass = access.type === "read" ? "read" : "low";
  const verb = access.type === "read" ? "reads" : "writes";
  const judged = { protected: false, extractedCommands: [] };
  const contained = access.type === "read" && access.recursive === true ? protectedIn(path, known, "read") : undefined;
  if (contained !== undefined) {
    const does = `reads all of ${access.path}, including ${contained}, a protected place`;
    return { ...judged, class: "high", protected: true, rule: "protected-place", does };
  }
  const way = written === undefined ? undefined : met?.ways.get(lookupKey({ what: "path", path: written }));
  const through = way?.find((link) => scopeOf(link, known, access.type) === "protected");
  if (scope !== "protected" && through !== undefined) {
    const does = `${verb} ${path} through ${through}, a protected place`;
    return { ...judged, class: "high", protected: true, rule: "protected-place", does };
  }
  if (scope === "workspace" && access.type === "write" && access.deletes === true) {
    const isSaved = access.unsaved?.every((lost) => isExpendable(lost, context)) === true;
    if (!isSaved) return { ...judged, class: "high", rule: "delete", does: `deletes ${path}, which cannot be undone` };
  }
  if (scope === "workspace") {
    return { ...judged, class: base, rule: `${access.type}-workspace`, does: `${verb} ${access.path}` };
  }
  if (scope === "outside" && access.type === "write" && isSystemPlace(access.path, context)) {
    return {
      ...judged,
      class: "high",
      rule: "write-system",
      does: `writes ${access.path}, which belongs to the system`,
    };
  }
  if (scope === "outside" && access.type === "write" && isSettingsPlace(access.path, known)) {
    const does = `writes ${access.path}, which your programs may obey`;
    return { ...judged, class: "high", rule: "write-settings", does };
  }
  if (scope === "outside") {
    const does = `${verb} ${access.path}, which is outside the workspace`;
    return { ...judged, class: raised(base), rule: `${access.type}-outside`, does };
  }
  return {
    ...judged,
    class: "high",
    protected: true,
    rule: "protected-place",
    does: `${verb} ${access.path}, a protected place`,
  };
}

/** The class comes from the user's configuration or the tool's definition. */
function judgeServerCall({ type: _, class: own, ...server }: Access & { type: "server" }): Judged {
  const { server: name, tool } = server;
  const does = `calls ${JSON.stringify(tool)} of the MCP server ${JSON.stringify(name)}`;
  return { class: own, protected: false, extractedCommands: [], rule: "mcp-tool", does, server };
}

/** Leaves out credentials and queries: the sentence goes to logs and screens. */
function judgeFetch(address: string): Judged {
  const judged = { protected: false, extractedCommands: [], rule: "fetch" };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    return { ...judged, class: "high", does: "fetches an address that is not http or https" };
  const plain = `${url.origin}${url.pathname}`;
  const shown = plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
  return { ...judged, class: "medium", does: `fetches ${shown}${url.search === "" ? "" : "?…"}` };
}

/**
 * A command proven read-only is `read`, whatever the model estimates. Otherwise its estimate can only raise the class.
 */
function judgeCommand(
  access: Access & { type: "command" },
  context: DecisionContext,
  known: CommandKnowledge | undefined,
): Judged {
  const { evidence } = access;
  const judged = evidence === undefined ? undefined : known?.judging.judgeReading(evidence, context);
  const contained =
    evidence === undefined || judged === undefined
      ? undefined
      : known?.containing.containedCommand(evidence, judged, context);
  const part =
    known === undefined || judged === undefined ? notRead : known.judging.worstPart(contained?.judged ?? judged);
  // By calling it `high`, the model asks to leave the sandbox.
  const leaves = contained !== undefined && access.claimed === "high" && part.class !== "read";
  const where = part.contained === true && !leaves ? " in the sandbox" : "";
  const shown = access.command.length > 200 ? `${access.command.slice(0, 200).toWellFormed()}…` : access.command;
  const does = `runs ${JSON.stringify(shown)}${where}: it ${part.why}`;
  const common = {
    isCommand: true,
    protected: part.protected,
    extractedCommands: evidence?.reading.programs ?? [],
    rule: leaves ? "leaves-sandbox" : part.rule,
    ...(contained === undefined || leaves ? {} : { walls: contained.walls }),
  } as const;
  if (access.background) {
    // In the background it could move paths after the decision on a later call.
    const own = worse(evidence?.reading.makesLinks === true ? "high" : "medium", part.class);
    return { ...common, class: leaves ? "high" : own, own, does: `${does}; it keeps running in the background` };
  }
  if (part.class === "read") return { ...common, class: "read", does };
  return { ...common, class: worse(part.class, access.claimed ?? "read"), own: part.class, does };
}

const notRead: JudgedPart = {
  kind: "unreadable",
  source: "",
  class: "high",
  protected: false,
  rule: "unreadable",
  why: "was not examined",
  parts: [],
};
