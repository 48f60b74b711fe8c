import { AgentError } from "../../engine/errors.ts";
import { errorMessage } from "../../text/values.ts";
import { printable } from "./visible.ts";

export function invalid(path: string, why: string): AgentError {
  return new AgentError("config_invalid", printable(`${path}: ${why}`));
}

export function reason(error: unknown): string {
  const message = errorMessage(error);
  return message.split("\n")[0] ?? message;
}
