import type { CommandRow } from "../command-row.ts";

/* As in `text.ts`: a flag has `:` only if every version of a program takes the next word as its value. */

const machine = "prints information about the machine";
const user = "prints information about users";
const processes = "lists processes";
const sockets = "lists network connections";

/** Columns that reveal nothing about a process's environment. */
const psColumns = new Set(
  `pid ppid pgid pgrp sid sess user uid euser ruser group gid egroup rgroup comm ucomm args cmd command etime etimes time
  cputime cputimes times pcpu %cpu c cp pmem %mem rss rsz vsz vsize sz size stat state s f flags tty tt tname start lstart stime
  start_time bsdstart bsdtime ni nice pri psr cls class policy nlwp thcount lwp spid tid wchan label cgroup unit`.split(
    /\s+/,
  ),
);

function psFormat(text: string): string | undefined {
  const isKnown = text.split(/[\s,]+/).every((column) => psColumns.has(column.replace(/[:=].*/, "")));
  return isKnown ? undefined : "may show process environments";
}

/** Letters without a dash. An `e` among them shows process environments. */
function psLetters(text: string): string | undefined {
  return /^([aufjlrTwx]+|\d+)$/.test(text) ? undefined : "may show process environments";
}

function dateFormat(text: string): string | undefined {
  return text.startsWith("+") ? undefined : "may set the clock";
}

/** Terminal properties to print. Anything else changes the terminal. */
function terminalSize(text: string): string | undefined {
  return /^(cols|lines|colors)$/.test(text) ? undefined : "changes the terminal";
}

/** Excludes host names, which would be looked up. */
function socketFilter(text: string): string | undefined {
  const isKnown = /^(\s|state|all|listening|established|connected|[sd]port|eq|or|and|not|[()=!]|:\d+)+$/.test(text);
  return isKnown ? undefined : "may look up names over the network";
}

/** A protocol, a host and a port, each optional: `:3000`, `tcp@localhost:80`. */
function lsofAddress(text: string): string | undefined {
  return /^[46]?(tcp|udp)?(@[\w.[\]:-]+)?(:[\w,-]+)?$/i.test(text) ? undefined : "is not a valid lsof address";
}

function settingName(text: string): string | undefined {
  return /^[\w.-]+$/.test(text) ? undefined : "may change a system setting";
}

const reading: readonly Omit<CommandRow, "class">[] = [
  { program: "true false", operands: "text*", anyFlag: true, why: "does nothing" },
  { program: "sleep", operands: "text*", anyFlag: true, why: "waits" },
  {
    program: "seq",
    flags: "-# -w -f: -s: -t: --equal-width --format: --separator:",
    operands: "text*",
    anyFlag: true,
    why: "prints numbers",
  },
  { program: "expr factor", flags: "-#", operands: "text*", anyFlag: true, why: "calculates" },
  { program: "printenv", flags: "-0 --null", operands: "text*", anyFlag: true, why: "prints the environment" },
  {
    program: "date",
    flags: `-j -n -R -u -I? -d: -r< -v: --utc --universal --iso-8601? --rfc-3339: --rfc-email --rfc-2822 --date: --reference<
      --resolution`,
    operands: "text?",
    script: dateFormat,
    why: "prints the time",
  },
  { program: "cal ncal", flags: "-[13bhjmMsy] -#", operands: "text*", why: "prints a calendar" },
  { program: "uuidgen", flags: "-r -t --random --time", why: "prints a new UUID" },
  {
    program: "id groups",
    flags: "-[AaFGgnPpruzZ] --user --group --groups --name --real --zero --context",
    operands: "text*",
    why: user,
  },
  { program: "whoami logname users tty", flags: "-s --silent --quiet", why: user },
  { program: "who w", flags: "-[abcdfhHilmopqrstTuw] --all --boot --count --heading --users", why: user },
  { program: "hostname", flags: "-s -I --short --all-ip-addresses", why: machine },
  {
    program: "uname",
    flags: `-[aimnoprsv] --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor
      --hardware-platform --operating-system`,
    why: machine,
  },
  { program: "arch sw_vers", why: machine },
  { program: "nproc", flags: "--all --ignore:", why: machine },
  { program: "uptime", flags: "-p -s --pretty --since", why: machine },
  {
    program: "free",
    flags: "-[bghklmtvw] --bytes --kibi --mebi --gibi --tebi --kilo --mega --giga --human --si --lohi --total --wide",
    why: machine,
  },
  {
    program: "lscpu",
    flags: `-[abBcJxy] -C? -e? -p? --all --online --offline --bytes --caches? --extended? --parse? --json --hex --physical
      --output-all`,
    why: machine,
  },
  {
    program: "lsblk",
    flags: "-[abdfilmnpSt] -o: -e: -I: --all --bytes --fs --json -J --list --noheadings --nodeps --paths --output:",
    why: machine,
  },
  {
    program: "lsb_release",
    flags: "-[acdirs] --all --codename --description --id --release --short",
    why: machine,
  },
  { program: "locale", flags: "-a -c -k -m --all-locales --charmaps", operands: "text*", why: machine },
  { program: "getconf", operands: "text read?", why: machine },
  { program: "sysctl", flags: "-a -e -n", operands: "text*", script: settingName, why: machine },
  { program: "tput", operands: "text", script: terminalSize, why: "prints the size of the terminal" },
  { program: "umask", flags: "-p -S", why: "prints the default permissions of new files" },
  { program: "ulimit", flags: "-[abcdefHiklmnpqrsStuvx]", why: "prints the shell's resource limits" },
  { program: "dirs", flags: "-l -p -v", why: "prints the shell's folder stack" },
  { program: "jobs", flags: "-l -n -p -r -s", operands: "text*", why: processes },
  { program: "times", why: "prints the shell's CPU time" },

  // ps reads its flags in two ways, and tries the second if the first fails. So only unambiguous words are listed.
  {
    program: "ps",
    longDash: true,
    flags: `-e -f -A -F -ef -eF -efw -efww -Af -el -ely -l -ww -w -H -eH -ejH --forest --no-headers --no-heading --sort:
      -o: -eo: -Ao: -axo: -aux -ax -axu`,
    scriptFlags: "-o -eo -Ao -axo",
    script: psFormat,
    why: processes,
  },
  {
    program: "ps",
    longDash: true,
    flags: "-p: -f -ww --pid: --ppid: --forest --no-headers --sort: -o:",
    scriptFlags: "-o",
    script: psFormat,
    why: processes,
  },
  {
    program: "ps",
    longDash: true,
    flags: "--forest --no-headers --sort:",
    operands: "text*",
    script: psLetters,
    why: processes,
  },
  { program: "ps", sub: "ax -o|axo|axww -o|a -o|x -o", operands: "text", script: psFormat, why: processes },
  {
    program: "pgrep pidof pstree",
    flags: `-[aAcfhilnopqsTvwx] -d: -g: -G: -P: -t: -u: -U: --list-name --list-full --full --exact --newest --oldest
      --ignore-case --inverse --count --delimiter: --parent: --euid: --uid: --show-pids --arguments`,
    operands: "text*",
    why: processes,
  },
  {
    program: "ss",
    flags: `-[046abdeHilmMnoOpSstTuwx] -f: --numeric --all --listening --options --extended --memory --processes --threads
      --info --summary --ipv4 --ipv6 --tcp --udp --raw --unix --family: --no-header --oneline`,
    operands: "text*",
    script: socketFilter,
    why: sockets,
  },
  {
    program: "lsof",
    flags: "-[alnPtw] -i? -c: -p: -s: -u:",
    needs: "-i",
    operands: "text*",
    script: lsofAddress,
    attached: lsofAddress,
    why: sockets,
  },
  {
    program: "netstat",
    longDash: true,
    flags: "-an -ant -anp -antp -tln -tuln -tlnp -tulnp -tulpn -ntlp -lntp -plnt -ltnp -nltp -nlp -rn -nr -i -s",
    why: sockets,
  },
];

const programs = new Set(reading.flatMap(({ program }) => program.split(" ")));

/** Programs that print information about the machine, its users and its processes, or do nothing. */
export const machineRows: readonly CommandRow[] = [
  { program: [...programs].join(" "), class: "read", sub: "--help|--version", why: "prints its help or version" },
  ...reading.map((row): CommandRow => ({ ...row, class: "read" })),
];
