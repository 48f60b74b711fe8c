import type { Containment } from "../../engine/containment.ts";

const readOnly = /read-only file ?system|\bEROFS\b/i;
const forbidden = /operation not permitted|\bEPERM\b/i;
const unreachable =
  /network is unreachable|could not resolve|couldn't connect|failed to connect|connection refused|name resolution|name or service not known|nodename nor servname|no such host|\b(?:ENETUNREACH|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ConnectError|NewConnectionError)\b/i;

/** How programs report a place that is kept from them by a mount of its own. */
const kept =
  /is a directory|not a directory|file exists|resource busy|permission denied|\b(?:EISDIR|ENOTDIR|EEXIST|EBUSY|EACCES|EXDEV)\b/i;

/** One line for the model on a failed command, if the sandbox may be why; otherwise `undefined`. */
export function sandboxNote(output: string, walls: Containment): string | undefined {
  const hidden = walls.hidden.find((place) => output.includes(place));
  const isOffline = walls.network === "session" && unreachable.test(output);
  const causes = [
    ...(isOffline ? ["it has no network and cannot reach ports of this machine"] : []),
    ...(readOnly.test(output) ? [`it can write only ${writablePlaces(walls)}`] : []),
    ...keptPlaces(output, walls),
    ...(hidden === undefined ? [] : [`${hidden} is hidden from it`]),
    ...(forbidden.test(output) ? ["it has no special rights"] : []),
  ];
  if (causes.length === 0) return undefined;
  const advice =
    'Run installers, git and downloads as separate commands. To run a command outside the sandbox, call Execute with riskLevel "high", which may need permission.';
  return `[The command ran in a sandbox: ${causes.join("; ")}. ${advice}]`;
}

/** The protected place that a line with an error names, by its path or below the working directory. */
function keptPlaces(output: string, { barred, writable }: Containment): readonly string[] {
  const lines = output.split("\n").filter((line) => kept.test(line));
  const names = barred.map((place) => {
    const folder = writable.find((around) => place.startsWith(`${around}/`));
    return folder === undefined ? place : place.slice(folder.length + 1);
  });
  const found = names.find((name) => lines.some((line) => line.includes(name)));
  return found === undefined ? [] : [`${found} is protected from it`];
}

const mostShown = 4;

/** The first writable place is the temp folder. */
function writablePlaces({ writable: [, ...folders], caches }: Containment): string {
  const shown = [...folders, ...caches].slice(0, mostShown);
  return shown.length === 0 ? "$TMPDIR" : `${shown.join(", ")} and $TMPDIR`;
}
