import type { Containment, SandboxOptions } from "./containment.ts";
import type { Autonomy, Mode, RunOptions } from "./settings.ts";

/** An effect of a call, as the policy sees it. Paths are canonical: absolute, with symbolic links resolved. */
export type Access =
  /** `recursive`: the folder and everything in it, without exceptions. */
  | (PathAccess & { readonly type: "read"; readonly recursive?: boolean })
  /** `deletes`: the file is gone afterwards. `unsaved`: the answer to that lookup, if it was made. */
  | (PathAccess & { readonly type: "write"; readonly deletes?: true; readonly unsaved?: readonly string[] })
  /** A request to another machine, or to a server on this one. */
  | { readonly type: "fetch"; readonly url: string }
  | {
      readonly type: "command";
      readonly command: string;
      /** The model's own estimate of the risk. Advice, never proof. */
      readonly claimed?: "low" | "medium" | "high";
      /** The command outlives the call. */
      readonly background: boolean;
      /** The parsed command and what was looked up for it. Without it, the command counts as not understood. */
      readonly evidence?: Evidence;
    }
  /** A call of a connected server's tool. */
  | ({ readonly type: "server"; readonly class: AccessClass } & ServerCall);

/** Identifies a call of a server's tool. */
export interface ServerCall {
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** `server` changes with the server's entry, `tool` also with the tool's definition. */
  readonly marks: { readonly server: string; readonly tool: string };
}

interface PathAccess {
  readonly path: string;
  /** The path as the model wrote it, absolute but unresolved. Present if it differs from `path`. */
  readonly written?: string;
  readonly met?: Met;
}

export interface Evidence {
  readonly reading: CommandReading;
  readonly found: Found;
  readonly met?: Met;
}

/** The links that a call's paths lead through, and the repositories around the paths. */
export interface Met {
  /**
   * By `lookupKey` of a written path or pattern: the links it leads through, then its target, or the pattern's folder.
   */
  readonly ways: Found;
  /** Of the repositories around the paths. */
  readonly around: ProtectedPaths;
}

/** Paths that need explicit approval, with everything below them. */
export interface ProtectedPaths {
  /** For any use. */
  readonly closed: readonly string[];
  /** For writing: files that start programs, or choose them. */
  readonly kept: readonly string[];
  /** For writing, unless the session works there: folders of programs, or of files that programs run. */
  readonly programs: readonly string[];
  /** Links that the others depend on. They must not be replaced. */
  readonly links: readonly string[];
}

/**
 * A question about the machine. The answer is a list of canonical paths. No answer means "unknown", which never counts as
 * harmless.
 *
 * - `path`: the path's target. Below `/proc` also the path as written, because links there differ per process.
 * - `matches`: the folders of a file-name pattern's matches, and each match's target.
 * - `links-below`: targets outside a folder of the symbolic links below it.
 * - `names-below`: the same, but no answer if a name below could be several words, or a flag.
 * - `git`: sources that git in a folder shows content from, besides the repository around it. No answer if it might run a
 *   program, or show a file, that the repository chooses.
 * - `signatures`: empty unless the user's settings make git check signatures with another program; then no answer.
 * - `fetched-branches`: empty if the remotes of git in a folder are fetched into remote-tracking branches only; else no
 *   answer.
 * - `credentials`: git configuration in a folder, and of repositories below it, that contains credentials.
 * - `remotes`: the same for the repository around a folder, because git shows its remotes' addresses.
 * - `tracked-names`: empty if every name that git tracks around a folder is a single word and not a flag; else no answer.
 * - `dashes`: empty if no match of a pattern starts with a dash; else no answer.
 * - `repositories-below`: everything named `.git` or `.tinman` in or below a pattern's matches.
 * - `emptied`: the folders in which a pattern, with those in `from`, matches everything but hidden names, or all folders.
 * - `hooks-below`: folders in or below a folder with a file that git would run as a hook.
 * - `search-path`: with `PATH`, the folders that programs are searched in, existing or not. With a program, the folders
 *   it searches for helpers, libraries and modules, according to its file and the environment. No answer if that depends
 *   on the working directory, or if a version manager would start something else.
 * - `program`: the file that the system would run for a name. No answer if that depends on the working directory.
 * - `output-links`: targets of links that replace build output folders, in a folder and a few levels below it.
 * - `ignore-links`: targets of links that replace ignore files, in a folder and above it.
 * - `installed`: empty if the tool `from` is installed in `node_modules` in or above a folder; else no answer.
 * - `shadowing-modules`: files and folders in a folder that `python -m`, with the module `from`, would load instead of
 *   installed modules.
 * - `existing`: the path's target if it exists, else empty.
 * - `unsaved`: what a path or pattern names that git could not restore: untracked files and folders. No answer if a
 *   tracked file has changed, for a new file in a build folder with tracked files, or if there are too many.
 * - `work-tree`: the folders that git in a folder would write files to.
 * - `variable`: empty if the environment of commands has no variable of that name; else no answer.
 */
export interface Lookup {
  readonly what:
    | "path"
    | "matches"
    | "links-below"
    | "names-below"
    | "git"
    | "signatures"
    | "fetched-branches"
    | "credentials"
    | "remotes"
    | "tracked-names"
    | "dashes"
    | "repositories-below"
    | "emptied"
    | "hooks-below"
    | "program"
    | "search-path"
    | "work-tree"
    | "existing"
    | "installed"
    | "shadowing-modules"
    | "output-links"
    | "ignore-links"
    | "unsaved"
    | "variable";
  /**
   * An absolute path. For `matches`, `unsaved`, `repositories-below` and `emptied`: an absolute pattern, where a backslash
   * escapes the next character. For `program` and `variable`: a name. For `search-path`: a name, an absolute path,
   * `git-<sub-command>`, or `PATH`.
   */
  readonly path: string;
  /**
   * - `search-path` of a program: the folder that it starts in, if known.
   * - `installed`: the tool.
   * - `shadowing-modules`: the module.
   * - `unsaved`: `existing` leaves out missing files.
   * - `emptied`: further patterns, one per line.
   * - `repositories-below`: tests, one per line: a pattern for names, or with a slash for paths below the folder. The
   *   answer has only repositories that pass all tests, and those inside or around something that does.
   */
  readonly from?: string;
}

/** Answers by `lookupKey`. */
export type Found = ReadonlyMap<string, readonly string[]>;

export function lookupKey({ what, path, from }: Lookup): string {
  return from === undefined ? `${what} ${path}` : `${what} ${path} ${from}`;
}

/** Something a command uses: a file, a program or project to run, a repository's settings, a variable to set. */
export interface Touch {
  readonly use: "read" | "write" | "delete" | "run" | "project" | "git" | "set";
  /** The class if everything found is where it should be. */
  readonly class: AccessClass;
  readonly lookup: Lookup;
  /** Includes everything below it. */
  readonly recursive: boolean;
  /** The command moves or deletes it. */
  readonly moves?: true;
  /** Each file below it may be named separately, as in a list of names. */
  readonly anyBelow?: true;
}

/** One node of a command, without its children. */
export interface CommandPart {
  /** The kind of node: `command`, `pipeline`, `redirection`, … */
  readonly kind: string;
  readonly source: string;
  readonly class: AccessClass;
  /** Stable name of what decided. */
  readonly rule: string;
  /** Completes "it …". */
  readonly why: string;
  readonly touches: readonly Touch[];
  /** The words of a simple command; `undefined` for a word not known in advance. */
  readonly words?: readonly (string | undefined)[];
  /** True if a word not known in advance may be a flag. */
  readonly hasUnclearFlag?: true;
  /** True if the words certainly run in the session's own folder. */
  readonly inWorkspaceRoot?: boolean;
  readonly parts: readonly CommandPart[];
}

export interface CommandReading {
  /** Completes "it …": why the text must never run, such as characters that hide what it does. */
  readonly refused?: string;
  /** The whole command, unchanged. */
  readonly text: string;
  readonly root: CommandPart;
  /** Paths may resolve differently after it has run. */
  readonly makesLinks?: boolean;
  /** The programs to show to people: base names, with the sub-command for git and npm. */
  readonly programs: readonly string[];
  readonly lookups: readonly Lookup[];
  /** Its effect if it deletes the names that its parts print. Counts only if the command is not understood. */
  readonly suspects?: readonly Touch[];
}

/** A part of a command, judged with what was looked up on the machine. */
export interface JudgedPart {
  readonly kind: string;
  readonly source: string;
  /** Of this part alone, without its children. */
  readonly class: AccessClass;
  /** Needs explicit approval at every level. */
  readonly protected: boolean;
  readonly rule: string;
  /** Completes "it …". */
  readonly why: string;
  /** Its effect is unknown, and its class counts only inside the sandbox. */
  readonly contained?: true;
  readonly parts: readonly JudgedPart[];
}

/** How much a call can change, in Tinman's judgement. */
export const accessClasses = ["read", "low", "medium", "high"] as const;
export type AccessClass = (typeof accessClasses)[number];

export interface Decision {
  /** `deny`: the call needs approval and there is no approver. `refuse`: the mode forbids it, and the turn continues. */
  readonly verdict: "allow" | "ask" | "deny" | "refuse";
  readonly class: AccessClass;
  /** The class as the wire says it: `read` counts as `low`. */
  readonly impact: "low" | "medium" | "high";
  /**
   * The level "always allow" raises the session to: the class, but never `high` on the model's estimate alone. Absent
   * where raising would not help: a protected place, or a call that asks only because of the model's estimate.
   */
  readonly always?: "low" | "medium" | "high";
  /** The programs of a command. */
  readonly extractedCommands: readonly string[];
  /** Stable name of what decided. */
  readonly rule: string;
  /** One sentence for the user. */
  readonly why: string;
  /** Whether the command runs in the sandbox. Absent where there is none. */
  readonly contained?: boolean;
  /** Of a server's tool: "always" allows this tool or its server, instead of raising the level. */
  readonly server?: ServerCall;
}

/** A decision of the policy, with the data that the host needs to carry it out. */
export interface Ruling extends Decision {
  /** The walls that the command runs behind. Present if `contained`. */
  readonly walls?: Containment;
}

/** The level that "always allow" raises the session to for these; `undefined` if raising would not help one of them. */
export function levelToAlwaysAllow(decisions: readonly Decision[]): Decision["always"] {
  const levels = decisions.map(({ always }) => always);
  if (levels.includes(undefined)) return undefined;
  return (["high", "medium", "low"] as const).find((level) => levels.includes(level));
}

/** Commands that the configuration allows or denies, as words. A final `*` matches any further words. */
export interface CommandRules {
  readonly allow: readonly (readonly string[])[];
  readonly deny: readonly (readonly string[])[];
  /** The administrator's rules. They apply even to unsafe runs. */
  readonly alwaysDeny: readonly (readonly string[])[];
}

export interface DecisionContext {
  readonly tool: string;
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  /** Canonical. */
  readonly cwd: string;
  /** Folders outside the workspace that this session can read: its own tool outputs. */
  readonly readable: readonly string[];
  readonly home: string;
  /** Files that this session has created, and the targets of its moves. Canonical. */
  readonly made?: { readonly created: ReadonlySet<string>; readonly moved: ReadonlySet<string> };
  /** The user's home according to the system, if it differs from `home`. */
  readonly loginHome?: string;
  /** The folder for temporary files. */
  readonly temp: string;
  /** Whether the file system ignores case in names. */
  readonly foldsCase?: boolean;
  /** Tinman's own home: its configuration and session logs. */
  readonly ownHome: string;
  /** The configuration file, if one was named; it can be anywhere. */
  readonly ownConfig?: string;
  /** Targets of links that are, or are in, protected places, and places that the environment names. Canonical. */
  readonly reached?: ProtectedPaths;
  /** Protected paths of the repositories around the working directory, and directly below it. Canonical. */
  readonly repositories?: ProtectedPaths;
  /** Rules that apply in this folder. */
  readonly rules: CommandRules;
  /** Whether an approver is attached. Without one, the answer is no. */
  readonly approver: boolean;
  readonly unsafe: boolean;
  /** Tools allowed by name for this run. A final `*` matches the rest of a name. */
  readonly enabledTools: readonly string[];
  /** Marks of servers and of their tools that the user always allows. */
  readonly approved?: ReadonlySet<string>;
  /** Present if commands can be contained here. */
  readonly sandbox?: SandboxSituation;
  /** Set if the user wants containment but it doesn't work: the reason, as a sentence. */
  readonly noSandbox?: string;
}

export interface SandboxSituation {
  /** Commands are contained at the level `high` as well. */
  readonly isRequired: boolean;
  /** The session's own temp folder. */
  readonly temp: string;
  /** Contained background commands of the session may be running. */
  readonly hasServers: boolean;
  readonly network: SandboxOptions["network"];
  readonly writable: SandboxOptions["writable"];
}

/** No method ever throws or rejects. */
export interface PermissionPolicy {
  /** Paths whose content needs explicit approval: canonical, or with `*` for any user's home. A search through a folder above skips them. */
  protectedPlaces(
    context: Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome" | "reached" | "repositories">,
  ): readonly string[];
  /** The protected places that are known by name, existing or not. */
  namedPlaces(homes: Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome">): ProtectedPaths;
  /** Parses and classifies a command. Reads no files. */
  read(command: string, places: Pick<DecisionContext, "cwd" | "home">): Promise<CommandReading>;
  /** Every part of a command with its class and the rule that decided, and its walls if it would be contained. */
  explain(evidence: Evidence, context: DecisionContext): { readonly tree: JudgedPart; readonly walls?: Containment };
  /** Pure and synchronous: the same accesses in the same context give the same decision. */
  decide(accesses: readonly Access[], context: DecisionContext): Ruling;
}

/** A call's preview for an approver. */
export type Preview =
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "create"; readonly path: string; readonly content: string; readonly oldContent?: string }
  | { readonly type: "edit"; readonly path: string; readonly oldContent?: string; readonly newContent?: string }
  /** `files` in the order of the patch. Contents are left out if the patch does not apply, or a file is too large. */
  | { readonly type: "patch"; readonly patch: string; readonly files: readonly FileChange[] }
  | { readonly type: "fetch"; readonly url: string }
  | { readonly type: "server"; readonly server: string; readonly tool: string }
  /** For a tool without a preview: the canonical paths of the call. */
  | { readonly type: "paths"; readonly paths: readonly string[] };

export interface FileChange {
  readonly path: string;
  /** New path of an updated file. */
  readonly movedTo?: string;
  readonly change: "add" | "update" | "delete";
  readonly oldContent?: string;
  readonly newContent?: string;
}

/** The facts from which the model's permissions text is written. */
export interface PermissionSituation extends Pick<RunOptions, "unsafe" | "onDenied"> {
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  readonly cwd: string;
  /** An attached client can grant permission. */
  readonly canAsk: boolean;
  /** Commands run in a sandbox. */
  readonly contained: boolean;
}
