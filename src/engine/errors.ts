import { errorMessage } from "../text/values.ts";
/**
 * Every failure that users can meet, by code. Front ends map codes to their own numbers or words; `docs/errors.md`
 * explains each. The text is the code's general meaning, not one failure's message.
 */
export const errorCodes = {
  usage: "The command line or a request is invalid.",
  config_invalid: "A configuration file is unreadable or has an invalid value.",
  session_not_found: "No session has this id.",
  session_in_use: "Another process is writing to this session.",
  session_closed: "The session is closed and accepts no more prompts.",
  session_exists: "A session with this id already exists.",
  queue_full: "Too many prompts are waiting in this session.",
  input_too_large: "The prompt is larger than the limit for a log record.",
  storage_failed: "The session log, or another file in Tinman's home, is unreadable or not writable.",
  model_unknown: "No known model has this id.",
  no_model: "No model was named, and the offline model did not understand the prompt.",
  model_failed: "The model, or the connection to it, failed.",
  model_auth: "The model refused the key, or a key is missing.",
  model_bad_request: "The model did not accept the request.",
  model_overloaded: "The model is busy, or its rate limit is exceeded.",
  model_empty: "The model returned an empty reply.",
  model_refused: "The model declined to answer.",
  script_invalid: "A scripted model's file is unreadable or has an invalid value.",
  script_exhausted: "A scripted model has no reply left for this request.",
  context_full: "The conversation no longer fits the model's window.",
  output_limit: "The model's reply was truncated at its output limit.",
  limit_turns: "The run reached its limit of model calls.",
  limit_tokens: "The run reached its token limit.",
  timeout: "The run reached its time limit.",
  sandbox_unavailable: "Commands must run in a sandbox, and it does not work here.",
  denied: "A tool call needs a permission that was not granted.",
  cancelled: "The user rejected a tool call.",
  tool_failed: "The run ended on a failed tool.",
  server_missing: "A required MCP server is missing or failed.",
  server_failed: "An MCP server could not be used, or refused a request.",
  interrupted: "The run was interrupted.",
  too_many_files: "The process, or the machine, has too many files open.",
  internal: "An internal error in Tinman.",
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * Why a model call failed, if a client may act on it and the code doesn't tell. `network`: the model was not reached,
 * or the connection was lost; `timeout`: it was silent for too long; `too_large`: the request has too many bytes.
 */
export const failureCauses = [
  "rate_limited",
  "overloaded",
  "timeout",
  "network",
  "empty_response",
  "too_large",
] as const;

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

/** A log that is unreadable as a whole: damaged at its start, or from a later version. */
export class UnreadableLogError extends AgentError {
  constructor(message: string) {
    super("storage_failed", message);
  }
}

/** The failure behind anything thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AgentError) return error.failure;
  const { code, syscall } = Object(error) as { readonly code?: unknown; readonly syscall?: unknown };
  if (code === "EMFILE" || code === "ENFILE") return { code: "too_many_files", message: tooManyFiles(code) };
  if (syscall === "uv_cwd") return { code: "usage", message: "The current folder does not exist." };
  return { code: "internal", message: errorMessage(error) };
}

/** The message for EMFILE and ENFILE, about the process and the machine. */
export function tooManyFiles(code: string): string {
  return `Too many files are open (${code}). Raise the limit, for example with: ulimit -n 1024`;
}
