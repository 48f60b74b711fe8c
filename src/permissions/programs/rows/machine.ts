import type { CommandRow } from "../command-row.ts";
import { readTable, withHelp } from "../command-table.ts";

/* As in `text.ts`: a flag has `:` only if every version of a program takes the next word as its value. */

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

/** Programs that print information about the machine, its users and its processes, or do nothing. */
export const machineRows: readonly CommandRow[] = withHelp(
  readTable(
    `
  read true false (text*): does nothing
    anyFlag
  read clear: clears the terminal
  read sleep (text*): waits
    anyFlag
  read seq (text*): prints numbers
    anyFlag -# -w -f: -s: -t: --equal-width --format: --separator:
  read expr factor (text*): calculates
    anyFlag -#
  read printenv (text*): prints the environment
    anyFlag -0 --null
  read date (text?): prints the time
    script=dateFormat -j -n -R -u -I? -d: -r< -v: --utc --universal --iso-8601? --rfc-3339: --rfc-email --rfc-2822
    --date: --reference< --resolution
  read cal ncal (text*): prints a calendar
    -[13bhjmMsy] -#
  read uuidgen: prints a new UUID
    -r -t --random --time
  read id groups (text*): prints information about users
    -[AaFGgnPpruzZ] --user --group --groups --name --real --zero --context
  read whoami logname users tty: prints information about users
    -s --silent --quiet
  read who w: prints information about users
    -[abcdfhHilmopqrstTuw] --all --boot --count --heading --users
  read hostname: prints information about the machine
    -s -I --short --all-ip-addresses
  read uname: prints information about the machine
    -[aimnoprsv] --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor
    --hardware-platform --operating-system
  read arch sw_vers: prints information about the machine
  read nproc: prints information about the machine
    --all --ignore:
  read uptime: prints information about the machine
    -p -s --pretty --since
  read free: prints information about the machine
    -[bghklmtvw] --bytes --kibi --mebi --gibi --tebi --kilo --mega --giga --human --si --lohi --total --wide
  read lscpu: prints information about the machine
    -[abBcJxy] -C? -e? -p? --all --online --offline --bytes --caches? --extended? --parse? --json --hex --physical
    --output-all
  read lsblk: prints information about the machine
    -[abdfilmnpSt] -o: -e: -I: --all --bytes --fs --json -J --list --noheadings --nodeps --paths --output:
  read lsb_release: prints information about the machine
    -[acdirs] --all --codename --description --id --release --short
  read locale (text*): prints information about the machine
    -a -c -k -m --all-locales --charmaps
  read getconf (text read?): prints information about the machine
  read sysctl (text*): prints information about the machine
    script=settingName -a -e -n
  read tput (text): prints the size of the terminal
    script=terminalSize
  read umask: prints the default permissions of new files
    -p -S
  read ulimit: prints the shell's resource limits
    -[abcdefHiklmnpqrsStuvx]
  read dirs: prints the shell's folder stack
    -l -p -v
  read jobs (text*): lists processes
    -l -n -p -r -s
  read times: prints the shell's CPU time
  # ps reads its flags in two ways, and tries the second if the first fails. So only unambiguous words are listed.
  read ps: lists processes
    longDash scriptFlags=(-o -eo -Ao -axo) script=psFormat -e -f -A -F -ef -eF -efw -efww -Af -el -ely -l -ww -w -H -eH
    -ejH --forest --no-headers --no-heading --sort: -o: -eo: -Ao: -axo: -aux -ax -axu
  read ps: lists processes
    longDash scriptFlags=-o script=psFormat -p: -f -ww --pid: --ppid: --forest --no-headers --sort: -o:
  read ps (text*): lists processes
    longDash script=psLetters --forest --no-headers --sort:
  read ps [ax -o|axo|axww -o|a -o|x -o] (text): lists processes
    script=psFormat
  read pgrep pidof pstree (text*): lists processes
    -[aAcfhilnopqsTvwx] -d: -g: -G: -P: -t: -u: -U: --list-name --list-full --full --exact --newest --oldest
    --ignore-case --inverse --count --delimiter: --parent: --euid: --uid: --show-pids --arguments
  read ss (text*): lists network connections
    script=socketFilter -[046abdeHilmMnoOpSstTuwx] -f: --numeric --all --listening --options --extended --memory
    --processes --threads --info --summary --ipv4 --ipv6 --tcp --udp --raw --unix --family: --no-header --oneline
  read lsof (text*): lists network connections
    needs=-i script=lsofAddress attached=lsofAddress -[alnPtw] -i? -c: -p: -s: -u:
  read netstat: lists network connections
    longDash -an -ant -anp -antp -tln -tuln -tlnp -tulnp -tulpn -ntlp -lntp -plnt -ltnp -nltp -nlp -rn -nr -i -s
`,
    { dateFormat, settingName, terminalSize, psFormat, psLetters, socketFilter, lsofAddress },
  ),
);
