import type { PromptResponse, RequestError } from "@agentclientprotocol/sdk";
import type { TurnResult } from "../../../sdk/types.ts";
import { authRequired, failed } from "../rpc-errors.ts";

const ofCodes: Readonly<Record<string, PromptResponse["stopReason"]>> = {
  output_limit: "max_tokens",
  limit_tokens: "max_tokens",
  context_full: "max_tokens",
  limit_turns: "max_turn_requests",
  model_refused: "refusal",
};

const ofReasons: Readonly<Record<string, PromptResponse["stopReason"]>> = {
  prompt_rejected: "refusal",
  max_tokens: "max_tokens",
  max_turns: "max_turn_requests",
};

/** The answer to a prompt. A refused permission ends the turn normally; it does not cancel it. */
export function answerTo(result: TurnResult, isCancelled: boolean): PromptResponse | RequestError {
  const { status, reason, error } = result;
  if (isCancelled) return { stopReason: "cancelled" };
  if (status === "completed") return { stopReason: "end_turn" };
  if (status === "interrupted") return { stopReason: reason === "cancelled" ? "cancelled" : "end_turn" };
  const stopReason = lookUp(ofCodes, error?.code) ?? lookUp(ofReasons, reason);
  if (stopReason !== undefined) return { stopReason };
  const words = error?.message ?? `The turn failed (${reason}).`;
  const isAuth = reason === "model_authentication_failed" || error?.code === "model_auth";
  return isAuth
    ? authRequired(words, { reason })
    : failed(words, error?.code ?? "backend_failed", { reason, ...error });
}

function lookUp<T>(table: Readonly<Record<string, T>>, key: string | undefined): T | undefined {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}
