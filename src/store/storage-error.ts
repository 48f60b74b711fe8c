import { AgentError } from "../engine/errors.ts";
import { errorCode } from "../text/system-errors.ts";
import { errorMessage } from "../text/values.ts";

const causes: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission was denied"],
  ["EPERM", "the operation is not permitted"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "no space is left on the disk"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would become too large"],
  ["EIO", "the disk reported an error"],
  ["EMFILE", "this process has too many files open"],
  ["ENFILE", "the system has too many files open"],
  ["ENOENT", "it does not exist"],
  ["ENOTDIR", "part of the path is not a folder"],
  ["EISDIR", "it is a folder"],
  ["EEXIST", "something else is in its place"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ELOOP", "its symbolic links form a loop"],
]);

/** Turns a file system error into a message with the path and the cause. Passes `AgentError` through. */
export function storageError(action: "read" | "write" | "remove", path: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const code = errorCode(error);
  const known = code === undefined ? undefined : causes.get(code);
  const cause = known ? `${known} (${code})` : errorMessage(error);
  return new AgentError("storage_failed", `Cannot ${action} ${path}: ${cause}.`, { cause: error });
}
