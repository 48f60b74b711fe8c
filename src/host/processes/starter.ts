import { markerVariable } from "./process-tree.ts";

/**
 * Runs in the command's group and waits for descriptor 3 to close, which happens when our process ends for any reason. Then
 * it kills the group, a contained command's first process (by its given id and start time), and all processes with the
 * marker. It has no marker itself and ignores the signals that end commands. Its programs never come from the repository.
 */
const watchdog = `
cd /
while read -r pid ticks <&3; do init=$pid since=$ticks; done
kill -TERM 0
if [ -n "$init" ] && read -r stat <"/proc/$init/stat"; then
  marker=$1
  set -f -- \${stat##*) }
  [ "\${20}" = "$since" ] && kill -KILL "$init"
  set +f -- "$marker"
fi
for round in 1 2 3 4 5; do
  for file in $(LC_ALL=C grep -lsF "${markerVariable}=$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
  sleep 0.1 || sleep 1
done
`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** `folders`, parents first, are removed if they are empty. */
function watchdogText(folders: readonly string[]): string {
  const removal = folders.length === 0 ? "" : `rmdir -- ${[...folders].reverse().map(quoted).join(" ")}\n`;
  return `${watchdog}${removal}kill -KILL 0\n`;
}

/**
 * Starts the watchdog as an orphan, then becomes the program, with the same process id and group and no unknown children or
 * descriptors. Arguments: the watchdog, the marker, the watchdog's PATH, the program and its arguments. The command comes in
 * the environment, so that a search for its words (`pgrep -f`) does not match the future watchdog. The marker comes as an
 * argument, so that the watchdog never looks like part of the command. Signals are ignored before the command can send any.
 */
const watched = `
tinman_watchdog=$1 tinman_marker=$2 tinman_path=$3
shift 3
(
  unset tinman_command
  trap "" HUP INT QUIT TERM PIPE
  ( PATH=$tinman_path exec /bin/sh -c "$tinman_watchdog" tinman-watchdog "$tinman_marker" >/dev/null 2>&1 4<&- ) &
)
export ${markerVariable}="$tinman_marker"
`;

/** Adds the command's text to the shell's arguments. */
const withCommand = `set -- "$@" "$tinman_command"\nunset tinman_command\n`;

const bareStarter = `${watched}${withCommand}exec "$@" 2>&1 3<&-`;
const bareServerStarter = `${watched}exec "$@" 3<&-`;

/** Descriptor 4 gives the launcher its options; its reports and those of the shell inside come back on copies. */
const containedStarter = `${watched}exec "$@" 2>&1 3<&- 5<&4 6<&4`;
const containedServerStarter = `${watched}exec "$@" 3<&- 5<&4 6<&4`;

/** Runs inside, because the launcher's own arguments must not show the command to `pgrep -f`. */
const reportStart = `echo '{"started":true}' >&6\nexec "$@" 6<&-`;
const containedShell = `${withCommand}${reportStart}`;

interface Starting {
  readonly marker: string;
  /** The watchdog's. */
  readonly path: string;
  /** The shell up to the command's text, or a server's program and its arguments. */
  readonly program: readonly string[];
  /** A server's standard error stays apart from its output. */
  readonly isServer: boolean;
  /** The command's launcher, up to the command's own arguments, and folders that the watchdog removes. */
  readonly contained?: { readonly launcher: readonly string[]; readonly heldFolders: readonly string[] };
}

/** The arguments of `/bin/sh` that start a command or a server. */
export function starterArguments({ marker, path, program, isServer, contained }: Starting): readonly string[] {
  const bare = isServer ? bareServerStarter : bareStarter;
  const inside = isServer ? containedServerStarter : containedStarter;
  const shell = isServer ? reportStart : containedShell;
  const script = contained === undefined ? bare : inside;
  const started = contained === undefined ? program : [...contained.launcher, "/bin/sh", "-c", shell, "sh", ...program];
  return ["-c", script, "sh", watchdogText(contained?.heldFolders ?? []), marker, path, ...started];
}
