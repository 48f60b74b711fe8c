import { errorMessage } from "../text/values.ts";
/**
 * Every failure that a user can meet, by code. Front ends map a code to their own number or word; `docs/errors.md` explains each.
 * The sentence here is the code's meaning, not the message of one failure.
 */
export const errorCodes = {
  usage: "The command line or a request was wrong.",
  config_invalid: "A configuration file could not be read or has a wrong value.",
  session_not_found: "No session has this id.",
  session_in_use: "Another process is writing to this session.",
  session_closed: "The session was closed and takes no more prompts.",
  session_exists: "A session with this id exists already.",
  queue_full: "Too many prompts are waiting in this session.",
  input_too_large: "The prompt is larger than a record of the log may be.",
  storage_failed: "The session log, or another file in Tinman's home, could not be read or written.",
  model_unknown: "No model with this id is known.",
  no_model: "No model was named, and the offline model did not understand the prompt.",
  model_failed: "The model, or the connection to it, failed.",
  model_auth: "The model refused the key, or a key is missing.",
  model_bad_request: "The model did not accept the request.",
  model_overloaded: "The model is busy or the rate limit is used up.",
  model_empty: "The model returned an empty reply.",
  model_refused: "The model declined to answer.",
  script_invalid: "A scripted model's file could not be read or has a wrong value.",
  script_exhausted: "A scripted model has no reply left for this request.",
  context_full: "The conversation no longer fits the model's window.",
  output_limit: "The model's answer was cut at its output limit.",
  limit_turns: "The run used up its model calls.",
  limit_tokens: "The run used up its tokens.",
  timeout: "The run took longer than it was given.",
  sandbox_unavailable: "Commands must run in a sandbox, and it does not work here.",
  denied: "A tool call needs a permission that was not given.",
  cancelled: "Somebody said no to a tool call.",
  tool_failed: "The run ended on a tool that could not do its job.",
  interrupted: "The run was interrupted.",
  too_many_files: "The process, or the machine, has too many files open.",
  internal: "A fault in Tinman itself.",
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * Why a call of a model failed, where that is known: what its code does not tell and a client may act on.
 * `network`: the model was not reached, or the connection was lost; `timeout`: it was silent for too long.
 */
export const failureCauses = ["rate_limited", "overloaded", "timeout", "network", "empty_response"] as const;

export type FailureCause = (typeof failureCauses)[number];

/** The data of a failure, as events and wires carry it. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly cause?: FailureCause;
}

export class AgentError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "AgentError";
    this.code = code;
  }

  get failure(): Failure {
    return { code: this.code, message: this.message };
  }
}

/** A session log that cannot be read at all: it is damaged at its start, or a later version wrote it. */
export class UnreadableLogError extends AgentError {
  constructor(message: string) {
    super("storage_failed", message);
  }
}

/** What went wrong, whatever was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AgentError) return error.failure;
  const { code, syscall } = Object(error) as { readonly code?: unknown; readonly syscall?: unknown };
  if (code === "EMFILE" || code === "ENFILE") return { code: "too_many_files", message: tooManyFiles(code) };
  if (syscall === "uv_cwd") return { code: "usage", message: "The current folder does not exist." };
  return { code: "internal", message: errorMessage(error) };
}

/** Words for EMFILE and ENFILE, which say the same of a process and of a machine. */
export function tooManyFiles(code: string): string {
  return `Too many files are open (${code}). Raise the limit, for example with: ulimit -n 1024`;
}
