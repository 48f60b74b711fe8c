import type { Fields } from "../../text/values.ts";

/** The wait that a server asks for, in milliseconds: in a header, or, as Google does, in the body. `now`: the time of day. */
export function retryAfter(headers: Fields, body: string, now: number): number | undefined {
  const [, seconds] = /"retryDelay":\s*"([\d.]{1,12})s"/.exec(body) ?? [];
  return inHeaders(headers, now) ?? (seconds === undefined ? undefined : Number(seconds) * 1_000);
}

function inHeaders(headers: Fields, now: number): number | undefined {
  // OpenAI's and Azure's are more exact than the standard one.
  for (const name of ["retry-after-ms", "x-ms-retry-after-ms"]) {
    const inMs = headers[name];
    if (typeof inMs === "string" && /^\d+(\.\d+)?$/.test(inMs)) return Math.round(Number(inMs));
  }
  const given = headers["retry-after"];
  if (typeof given !== "string" || given.trim() === "") return undefined;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(given);
  if (Number.isNaN(date)) return undefined;
  // The server's own time of day, so that a wrong clock here doesn't matter.
  const serverNow = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, date - (Number.isNaN(serverNow) ? now : serverNow));
}
