import type { Autonomy, Mode } from "./settings.ts";

/** What a call would do, as far as a decision needs to know. Paths are canonical: absolute, symbolic links resolved. */
export type Access =
  /** `recursive`: the folder with everything in it, of which nothing can be left out. */
  | (PathAccess & { readonly type: "read"; readonly recursive?: boolean })
  /** `deletes`: it is gone afterwards. `unsaved`: the answer to that question, when it was asked. */
  | (PathAccess & { readonly type: "write"; readonly deletes?: true; readonly unsaved?: readonly string[] })
  /** Something is asked of another machine, or of a server on this one. */
  | { readonly type: "fetch"; readonly url: string }
  | {
      readonly type: "command";
      readonly command: string;
      /** The model's own word on the risk: advice, never proof. */
      readonly claimed?: "low" | "medium" | "high";
      /** It outlives the call. */
      readonly background: boolean;
      /** What was read of the command and seen of the machine. Without it, the command counts as not understood. */
      readonly evidence?: Evidence;
    };

interface PathAccess {
  readonly path: string;
  /** The path as the model wrote it, absolute but not resolved, where it leads to `path` in a way of its own. */
  readonly written?: string;
  readonly met?: Met;
}

export interface Evidence {
  readonly reading: CommandReading;
  readonly found: Found;
  readonly met?: Met;
}

/** What lies in the way of a call's paths, and around them. */
export interface Met {
  /** By `lookupKey` of a written path or pattern: the links that it leads through, and where it leads or the pattern begins. */
  readonly ways: Found;
  /** Of the repositories around the paths. */
  readonly around: ProtectedPaths;
}

/** Paths that need an explicit yes, with everything below them. */
export interface ProtectedPaths {
  /** For any use. */
  readonly closed: readonly string[];
  /** For writing: what starts programs, or says which. */
  readonly kept: readonly string[];
  /** For writing, unless the session works there: folders of programs, and of files that programs run. */
  readonly programs: readonly string[];
  /** Links on which the others depend: they must not be replaced. */
  readonly links: readonly string[];
}

/**
 * A question about the machine whose answer is a list of canonical paths. No answer means that it cannot be told, and that
 * is never taken for harmless.
 *
 * - `path`: where a path leads. Below `/proc` also the path as it is written, because every process has other links there.
 * - `matches`: folders that hold what a file-name pattern matches, and where each match leads.
 * - `links-below`: where symbolic links below a folder lead that leave it.
 * - `names-below`: the same, and no answer when a name below could be more than one word, or a flag.
 * - `git`: where git in a folder takes what it shows from, besides the repository around it. No answer when it might run a
 *   program, or show a file, of the repository's choice.
 * - `signatures`: nothing, when the user's settings do not make git check signatures with another program; else no answer.
 * - `credentials`: configuration of git in a folder that holds credentials.
 * - `remotes`: the same of the repository around a folder, whose addresses git shows.
 * - `tracked-names`: nothing, when every name that git tracks around a folder is surely one word and no flag; else no answer.
 * - `dashes`: nothing, when no name that a pattern matches begins with a dash; else no answer.
 * - `repositories-below`: what is called `.git` or `.tinman` in or below a folder.
 * - `hooks-below`: folders in or below a folder that hold a file which git would take for a hook.
 * - `search-path`: with `PATH`, the folders in which programs are looked for, whether they exist or not. With a program, where
 *   it looks for helpers, libraries and modules, as its file and the environment say. No answer where that depends on the folder, or where a
 *   version manager would start something else.
 * - `program`: the file that the system would run for a name; no answer where that depends on the folder.
 * - `output-links`: where links lead that take the place of folders which builds fill, in a folder and not far below it.
 * - `ignore-links`: where links lead that take the place of ignore files, in a folder and above it.
 * - `existing`: where a path leads, when there is something; else nothing.
 * - `unsaved`: what a path or pattern names that git could not bring back: files and folders that it does not track. No answer
 *   when a tracked file was changed, for a new file in a build folder that holds tracked ones, or when there is too much.
 * - `work-tree`: the folders whose files git would write in a folder.
 * - `variable`: nothing, when the environment of commands has no variable of that name; else no answer.
 */
export interface Lookup {
  readonly what:
    | "path"
    | "matches"
    | "links-below"
    | "names-below"
    | "git"
    | "signatures"
    | "credentials"
    | "remotes"
    | "tracked-names"
    | "dashes"
    | "repositories-below"
    | "hooks-below"
    | "program"
    | "search-path"
    | "work-tree"
    | "existing"
    | "output-links"
    | "ignore-links"
    | "unsaved"
    | "variable";
  /**
   * Absolute; with `matches` and `unsaved` a pattern, in which a backslash takes the meaning from the character behind it. With `program`
   * and `variable` a name. With `search-path` a name, an absolute path, `git-` and a sub-command, or `PATH`.
   */
  readonly path: string;
  /** With `search-path` and a program: the folder in which it is started, where that is known. */
  readonly from?: string;
}

/** Answers by `lookupKey`. */
export type Found = ReadonlyMap<string, readonly string[]>;

export function lookupKey({ what, path, from }: Lookup): string {
  return from === undefined ? `${what} ${path}` : `${what} ${path} ${from}`;
}

/** A file or folder that a command uses, a program or a project that it runs, a repository that decides what git does, a variable it sets. */
export interface Touch {
  readonly use: "read" | "write" | "delete" | "run" | "project" | "git" | "set";
  /** Its class when everything that is found lies where it should. */
  readonly class: AccessClass;
  readonly lookup: Lookup;
  /** With everything below it. */
  readonly recursive: boolean;
  /** It is taken away from there. */
  readonly moves?: true;
  /** Each file below it may be meant by itself, as in a list of names. */
  readonly anyBelow?: true;
}

/** One node of a command: itself, without the parts below it. */
export interface CommandPart {
  /** The kind of node: `command`, `pipeline`, `redirection`, … */
  readonly kind: string;
  readonly source: string;
  readonly class: AccessClass;
  /** What decided, as a stable name. */
  readonly rule: string;
  /** Completes "it …". */
  readonly why: string;
  readonly touches: readonly Touch[];
  /** The words of a simple command; `undefined` for one that is not known before it runs. */
  readonly words?: readonly (string | undefined)[];
  /** True when the words surely run in the session's own folder. */
  readonly inWorkspaceRoot?: boolean;
  readonly parts: readonly CommandPart[];
}

export interface CommandReading {
  /** Why the text must not run at all, however much is allowed, to complete "it …": it may not be what it looks like. */
  readonly refused?: string;
  /** All of it, as it was given. */
  readonly text: string;
  readonly root: CommandPart;
  /** Paths may lead elsewhere once it has run. */
  readonly makesLinks?: boolean;
  /** The programs, for people: base names, with the sub-command of git and npm. */
  readonly programs: readonly string[];
  readonly lookups: readonly Lookup[];
}

/** A part of a command after the machine was looked at. */
export interface JudgedPart {
  readonly kind: string;
  readonly source: string;
  /** Of this part alone, without the parts below it. */
  readonly class: AccessClass;
  /** Needs an explicit yes at every level. */
  readonly protected: boolean;
  readonly rule: string;
  /** Completes "it …". */
  readonly why: string;
  readonly parts: readonly JudgedPart[];
}

/** How much a call can change, decided by us. */
export const accessClasses = ["read", "low", "medium", "high"] as const;
export type AccessClass = (typeof accessClasses)[number];

export interface Decision {
  /** `deny`: it needs a yes and nobody can give one. `refuse`: the mode forbids it, and the turn goes on. */
  readonly verdict: "allow" | "ask" | "deny" | "refuse";
  readonly class: AccessClass;
  /** The class as the wire says it: `read` counts as `low`. */
  readonly impact: "low" | "medium" | "high";
  /**
   * The level to which "always allow" would raise the session: the class, but never `high` by the model's word. Absent where
   * that would not help: a protected place, or a call that is asked about only because of the model's word.
   */
  readonly always?: "low" | "medium" | "high";
  /** The programs of a command. */
  readonly extractedCommands: readonly string[];
  /** What decided, as a stable name. */
  readonly rule: string;
  /** One sentence for a person. */
  readonly why: string;
}

/** The level to which a yes for good to all of these raises the session; none where that would not help with one of them. */
export function levelForGood(decisions: readonly Decision[]): Decision["always"] {
  const levels = decisions.map(({ always }) => always);
  if (levels.includes(undefined)) return undefined;
  return (["high", "medium", "low"] as const).find((level) => levels.includes(level));
}

/** Commands that a configuration allows or denies, as words; `*` as the last one stands for any further words. */
export interface CommandRules {
  readonly allow: readonly (readonly string[])[];
  readonly deny: readonly (readonly string[])[];
  /** The administrator's: they hold even where nothing is asked. */
  readonly alwaysDeny: readonly (readonly string[])[];
}

export interface DecisionContext {
  readonly tool: string;
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  /** Canonical. */
  readonly cwd: string;
  /** Folders outside the workspace that this session may read: its own tool outputs. */
  readonly readable: readonly string[];
  readonly home: string;
  /** What this session has made, and where it has moved something. Canonical. */
  readonly made?: { readonly created: ReadonlySet<string>; readonly moved: ReadonlySet<string> };
  /** The home that the system has on record for the user, where that is another one. */
  readonly loginHome?: string;
  /** Where temporary files go. */
  readonly temp: string;
  /** Whether the file system takes `A` and `a` for the same name. */
  readonly foldsCase?: boolean;
  /** Tinman's own home: its configuration and session logs. */
  readonly ownHome: string;
  /** The configuration, where it was named and may lie elsewhere. */
  readonly ownConfig?: string;
  /** Where the protected places lead that are links, or hold some, and those that the environment names. Canonical, as all below. */
  readonly reached?: ProtectedPaths;
  /** Of the repositories around the working directory, and of those right below it. */
  readonly repositories?: ProtectedPaths;
  /** Rules that hold in this folder. */
  readonly rules: CommandRules;
  /** Whether somebody can be asked. Nobody there means no. */
  readonly approver: boolean;
  readonly unsafe: boolean;
  /** Tools allowed by name for this run. */
  readonly enabledTools: readonly string[];
}

/** Nothing of it ever throws or rejects. */
export interface PermissionPolicy {
  /** Canonical paths whose content is shown only after an explicit yes; a search through a folder above them leaves them out. */
  protectedPlaces(
    context: Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome" | "reached" | "repositories">,
  ): readonly string[];
  /** The protected places that are known by name, whether or not there is anything. */
  namedPlaces(homes: Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome">): ProtectedPaths;
  /** Takes a command apart. Touches nothing. */
  read(command: string, places: Pick<DecisionContext, "cwd" | "home">): Promise<CommandReading>;
  /** Every part of a command with its class and what decided. */
  explain(evidence: Evidence, context: DecisionContext): JudgedPart;
  /** Pure and synchronous: the same accesses in the same context give the same decision. */
  decide(accesses: readonly Access[], context: DecisionContext): Decision;
}

/** What an approver is shown beside the call itself. */
export type Preview =
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "create"; readonly path: string; readonly content: string; readonly oldContent?: string }
  | { readonly type: "edit"; readonly path: string; readonly oldContent?: string; readonly newContent?: string }
  /** `files` in the order of the patch; contents are left out where the patch does not fit, or a file is too large. */
  | { readonly type: "patch"; readonly patch: string; readonly files: readonly FileChange[] }
  | { readonly type: "fetch"; readonly url: string }
  /** Of a tool that has nothing of its own to show: where the paths of the call lead. Canonical. */
  | { readonly type: "paths"; readonly paths: readonly string[] };

export interface FileChange {
  readonly path: string;
  /** Where an updated file is moved to. */
  readonly movedTo?: string;
  readonly change: "add" | "update" | "delete";
  readonly oldContent?: string;
  readonly newContent?: string;
}
