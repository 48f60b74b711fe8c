import { failureOf } from "../engine/errors.ts";
import type { Ids } from "../engine/ports.ts";

/** Logs a failure under an id. Clients get only the id. */
export type Report = (error: unknown, context: Readonly<Record<string, unknown>>) => string;

/** Structured: an event name and its fields. Never message contents. */
interface FailureLog {
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

export function createReport(log: FailureLog, ids: Ids): Report {
  return (error, context) => {
    const errorId = ids.next();
    const { code, message } = failureOf(error);
    log.error("request.failed", { errorId, code, message, ...context });
    return errorId;
  };
}
