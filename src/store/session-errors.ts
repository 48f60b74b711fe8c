import { AgentError } from "../engine/errors.ts";
import { textStart } from "../text/text-cut.ts";

export function notFound(id: string): AgentError {
  return new AgentError("session_not_found", `Session ${shown(id)} not found.`);
}

export function invalidId(id: string): AgentError {
  return new AgentError(
    "usage",
    `Invalid session id ${shown(id)}. Use 1 to 128 letters, digits, "_", "-" and ".", without "..", beginning with a letter, a digit or "_".`,
  );
}

/** Ids are untrusted: escape them to one line and limit their length. */
function shown(id: string): string {
  return JSON.stringify(id.length > 140 ? `${textStart(id, 140)}…` : id);
}
