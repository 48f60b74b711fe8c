import { errorCode } from "../../text/system-errors.ts";

/** Whether the process or the machine has run out of file descriptors. */
export function isOutOfFiles(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EMFILE" || code === "ENFILE";
}

export function outOfFiles(): Error {
  const words =
    "EMFILE: too many open files, so not everything could be searched. Raise the limit (ulimit -n) or try again.";
  return Object.assign(new Error(words), { code: "EMFILE" });
}
