import type { ErrorCode } from "../engine/errors.ts";

/** The process's exit codes, documented in docs/exit-codes.md. Nothing else chooses one. */
export const exitCodes = {
  success: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  noSession: 4,
  denied: 5,
  hangup: 129,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const signalCodes = {
  SIGHUP: exitCodes.hangup,
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
} as const;

export type HandledSignal = keyof typeof signalCodes;

const codeOfError: Partial<Record<ErrorCode, ExitCode>> = {
  usage: exitCodes.usage,
  config_invalid: exitCodes.usage,
  sandbox_unavailable: exitCodes.usage,
  server_missing: exitCodes.usage,
  model_unknown: exitCodes.usage,
  script_invalid: exitCodes.usage,
  input_too_large: exitCodes.usage,
  session_not_found: exitCodes.noSession,
  context_full: exitCodes.limit,
  output_limit: exitCodes.limit,
  limit_turns: exitCodes.limit,
  limit_tokens: exitCodes.limit,
  timeout: exitCodes.limit,
  denied: exitCodes.denied,
  cancelled: exitCodes.denied,
  interrupted: exitCodes.interrupted,
};

export function exitCodeOf(code: ErrorCode): ExitCode {
  return codeOfError[code] ?? exitCodes.failed;
}
