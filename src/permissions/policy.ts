import type { Access, AccessClass, Decision, DecisionContext, PermissionPolicy } from "../core/permission.ts";
import { raised, runsAt, worse } from "./autonomy.ts";
import { protectedIn, protectedPlaces, scopeOf } from "./path-scope.ts";
import { type CommandRisk, commandRisk } from "./shell-risk.ts";

interface Judged {
  readonly class: AccessClass;
  /** Needs an explicit yes at every level. */
  readonly protected: boolean;
  readonly extractedCommands: readonly string[];
  readonly rule: string;
  /** What the call does, to complete "This call …". */
  readonly does: string;
}

export const permissionPolicy: PermissionPolicy = { decide, protectedPlaces };

function decide(accesses: readonly Access[], context: DecisionContext): Decision {
  const judged = accesses.map((access) => judge(access, context)).reduce(worst, harmless);
  const facts = {
    class: judged.class,
    impact: judged.class === "read" ? "low" : judged.class,
    extractedCommands: judged.extractedCommands,
  } as const;
  const what = `${context.tool} ${judged.does}`;
  if (context.mode === "spec" && (judged.class !== "read" || judged.protected)) {
    const why = `Spec mode is active: ${what}, and only reading is allowed until the plan is approved.`;
    return { ...facts, verdict: "refuse", rule: "spec-mode", why };
  }
  if (context.unsafe) return { ...facts, verdict: "allow", rule: "unsafe", why: "This run asks nothing." };
  if (!judged.protected) {
    if (runsAt(context.autonomy, judged.class)) {
      return { ...facts, verdict: "allow", rule: judged.rule, why: `${what}.` };
    }
    if (context.enabledTools.includes(context.tool)) {
      return {
        ...facts,
        verdict: "allow",
        rule: "enabled-tool",
        why: `${context.tool} is allowed by name for this run.`,
      };
    }
  }
  if (context.approver) return { ...facts, verdict: "ask", rule: judged.rule, why: `${what}.` };
  const why = `${what}. That needs a permission which this run does not have, and nobody can be asked.`;
  return { ...facts, verdict: "deny", rule: judged.rule, why };
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
  return { ...chosen, class: worse(a.class, b.class), extractedCommands };
}

function judge(access: Access, context: DecisionContext): Judged {
  if (access.type === "command") return judgeCommand(access);
  const scope = scopeOf(access.path, context, access.type);
  const base: AccessClass = access.type === "read" ? "read" : "low";
  const verb = access.type === "read" ? "reads" : "writes";
  const judged = { protected: false, extractedCommands: [] };
  const contained = access.type === "read" && access.recursive === true ? protectedIn(access.path, context) : undefined;
  if (contained !== undefined) {
    const does = `reads all of ${access.path}, and in it ${contained}, a protected place`;
    return { ...judged, class: "high", protected: true, rule: "protected-place", does };
  }
  if (scope === "workspace") {
    return { ...judged, class: base, rule: `${access.type}-workspace`, does: `${verb} ${access.path}` };
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

/** A command proven read-only is `read` whatever the model says of it; otherwise its word can only make things worse. */
function judgeCommand(access: Access & { type: "command" }): Judged {
  const risk = gitRisk(commandRisk(access.command), access.runsRepositoryPrograms === true);
  const shown = access.command.length > 200 ? `${access.command.slice(0, 200).toWellFormed()}…` : access.command;
  const does = `runs ${JSON.stringify(shown)}: ${risk.why}`;
  const common = { protected: false, extractedCommands: risk.extractedCommands, rule: risk.rule };
  if (access.background)
    return { ...common, class: worse("medium", risk.class), does: `${does}; it goes on in the background` };
  if (risk.class === "read") return { ...common, class: "read", does };
  return { ...common, class: worse(risk.class, access.claimed ?? "read"), does };
}

/** Git that only reads, unless the repository has it run something. */
function gitRisk(risk: CommandRisk, runsPrograms: boolean): CommandRisk {
  if (!runsPrograms || risk.class !== "read") return risk;
  const why = "the repository's own git configuration may make git run other programs, or read elsewhere";
  return { ...risk, class: "high", rule: "git-config-runs-programs", why };
}
