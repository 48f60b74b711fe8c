import type { Autonomy, Mode } from "./settings.ts";

/** What a call would do, as far as a decision needs to know. Paths are canonical: absolute, symbolic links resolved. */
export type Access =
  /** `recursive`: the folder with everything in it, of which nothing can be left out. */
  | { readonly type: "read"; readonly path: string; readonly recursive?: boolean }
  | { readonly type: "write"; readonly path: string }
  | {
      readonly type: "command";
      readonly command: string;
      /** The model's own word on the risk: advice, never proof. */
      readonly claimed?: "low" | "medium" | "high";
      /** It outlives the call. */
      readonly background: boolean;
      /** It is git, in a repository whose own files may make git run other programs. */
      readonly runsRepositoryPrograms?: true;
    };

/** How much a call can change, decided by us. */
export const accessClasses = ["read", "low", "medium", "high"] as const;
export type AccessClass = (typeof accessClasses)[number];

export interface Decision {
  /** `deny`: it needs a yes and nobody can give one. `refuse`: the mode forbids it, and the turn goes on. */
  readonly verdict: "allow" | "ask" | "deny" | "refuse";
  readonly class: AccessClass;
  /** The class as the wire says it: `read` counts as `low`. */
  readonly impact: "low" | "medium" | "high";
  /** The programs of a command. */
  readonly extractedCommands: readonly string[];
  /** What decided, as a stable name. */
  readonly rule: string;
  /** One sentence for a person. */
  readonly why: string;
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
  /** Tinman's own home: its configuration and session logs. */
  readonly ownHome: string;
  /** Whether somebody can be asked. Nobody there means no. */
  readonly approver: boolean;
  readonly unsafe: boolean;
  /** Tools allowed by name for this run. */
  readonly enabledTools: readonly string[];
}

/** Pure and synchronous: the same accesses in the same context give the same decision. Never throws. */
export interface PermissionPolicy {
  /** Canonical paths whose content is shown only after an explicit yes; a search through a folder above them leaves them out. */
  protectedPlaces(homes: Pick<DecisionContext, "home" | "ownHome">): readonly string[];
  decide(accesses: readonly Access[], context: DecisionContext): Decision;
}

/** What an approver is shown beside the call itself. */
export type Preview =
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "create"; readonly path: string; readonly content: string; readonly oldContent?: string }
  | { readonly type: "edit"; readonly path: string; readonly oldContent?: string; readonly newContent?: string };
