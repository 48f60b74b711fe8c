import type { CommandRow } from "../command-row.ts";

const version = "prints its version";
const fetches = "fetches something over the network";
const looksUp = "queries other machines over the network";
const daemon = "queries the container service";
const cluster = "queries a cluster over the network";
const hosting = "queries the hosting service over the network, in the user's name";
const logs = "prints the status or logs of system services";

/** A web or local address without a password. */
function webAddress(text: string): string | undefined {
  const isWeb = /^https?:\/\/[^\s/?#@\\]+([/?#]\S*)?$/i.test(text);
  const isHere = /^(localhost|127\.0\.0\.1)(:\d+)?([/?#]\S*)?$/.test(text);
  return isWeb || isHere ? undefined : "is not a plain web address";
}

/** Request headers that carry no credentials. */
function plainHeader(text: string): string | undefined {
  const isPlain =
    /^(accept|accept-(encoding|language)|cache-control|content-type|if-(modified-since|none-match)|range|user-agent)\s*:[^\r\n]*$/i;
  return isPlain.test(text) ? undefined : "is a header that may send data";
}

/** A curl output format: plain text and curl's variables, without anything curl could read as a file. */
function plainOutput(text: string): string | undefined {
  const isPlain = /^(?:\\[nrt]|[\w\s.,=()|-]|:(?=\s)|%\{\w+\})*$/.test(text);
  return isPlain && text.includes("%{") ? undefined : "may read or write a file";
}

/** Protocols can only be narrowed to http and https: a redirect to `file:` would print any file. */
function webProtocols(text: string): string | undefined {
  return /^=https?(,https?)*$/.test(text) ? undefined : "allows other protocols than http and https";
}

/** Cloud machines get their credentials from these addresses. */
const metadata = /^(?:[a-z]+:\/\/)?(?:169\.254\.|100\.100\.100\.200|metadata\.|\[?fe80:|\[?fd00:ec2)/i;

/** An address, a header, a method, a format or protocols. Each is harmless even in another's place. */
function curlText(text: string): string | undefined {
  if (metadata.test(text)) return "may request cloud credentials";
  const kinds = [webAddress(text), plainHeader(text), plainOutput(text), webProtocols(text)];
  return kinds.includes(undefined) || /^(GET|HEAD|OPTIONS)$/.test(text) ? undefined : "is not a plain web request";
}

function wgetText(text: string): string | undefined {
  if (metadata.test(text)) return "may request cloud credentials";
  return webAddress(text) === undefined || plainHeader(text) === undefined ? undefined : "is not a plain web request";
}

function hostName(text: string): string | undefined {
  return /^[a-z\d_][\w.:%-]*$/i.test(text) ? undefined : "is not a host name";
}

/** `dig` also takes a server after `@` and its own flags after `+`. */
function digWord(text: string): string | undefined {
  return /^[@+]?[a-z\d_.][\w.:=%-]*$/i.test(text) ? undefined : "is not a host name";
}

/** Excludes requests for secrets, and formats that are read from files. */
function clusterText(text: string): string | undefined {
  return /secret|-file/i.test(text) ? "may request secrets" : undefined;
}

/**
 * Left out: flags that send data or credentials (-d, -F, -T, -u, -b, -n, --cert), change the route or its checks (-x,
 * -k, --resolve), read files (-K), or change the output folder (--output-dir).
 */
const curlFlags = `
  -s -S -L -f -I -i -v -g -N -R -4 -6 -o> -m: -H: -X: -A: -w: -C: -r: --silent --show-error --location --fail --fail-with-body
  --head --include --verbose --globoff --no-buffer --remote-time --ipv4 --ipv6 --output> --create-dirs
  --max-time: --connect-timeout: --max-redirs: --max-filesize: --limit-rate: --retry: --retry-delay: --retry-max-time:
  --retry-connrefused --retry-all-errors --header: --request: --user-agent: --write-out: --continue-at: --range: --compressed
  --progress-bar --no-progress-meter --proto: --proto-redir: --tlsv1.2 --tlsv1.3 --http1.1 --http2`;
const curlTexts = {
  operands: "text*",
  checkedFlags: "-H --header -X --request -w --write-out --proto --proto-redir",
  script: curlText,
};

const wgetFlags = `
  -q -c -S -n? -4 -6 -T: -t: -w: -U: --quiet --continue --server-response --no-verbose --no-clobber
  --timeout: --tries: --wait: --user-agent: --show-progress --progress: --spider
  --max-redirect: --header: --inet4-only --inet6-only --retry-connrefused`;

/** Without `-O`, the address or the server decides the file's name. */
function wgetName(text: string): string | undefined {
  if (webAddress(text) !== undefined) return wgetText(text);
  const name = /^[^?#]*\/([^/?#]*)/.exec(text.replace(/^https?:\/\/[^/]*/i, ""))?.[1] ?? "";
  return /^\w[\w.+-]*$|^$/.test(name) && !/[?#]/.test(text) ? undefined : "gives the file an unclear name";
}

/** In an output name, curl replaces `#1` with a part of the address. */
function noPlaceholder(text: string): string | undefined {
  return text.includes("#") ? "may include parts of the address" : undefined;
}

const webRows: readonly CommandRow[] = [
  { program: "curl wget", class: "read", flags: "-V --version", needs: "-V --version", why: version },
  { program: "ssh", class: "read", flags: "-V", needs: "-V", why: version },
  { program: "curl", class: "medium", flags: curlFlags, ...curlTexts, path: noPlaceholder, why: fetches },
  {
    program: "wget",
    class: "medium",
    flags: `${wgetFlags} -O> --output-document>`,
    needs: "-O --output-document",
    operands: "text*",
    checkedFlags: "--header",
    script: wgetText,
    why: fetches,
  },
  {
    program: "wget",
    class: "medium",
    flags: `${wgetFlags} -P> --directory-prefix>`,
    operands: "text*",
    checkedFlags: "--header",
    script: wgetName,
    picksNames: "file",
    why: fetches,
  },
];

const lookUpRows: readonly CommandRow[] = [
  {
    program: "ping ping6",
    class: "medium",
    flags: "-c: -i: -W: -w: -s: -t: -n -q -4 -6",
    operands: "text",
    script: hostName,
    why: looksUp,
  },
  {
    program: "dig",
    class: "medium",
    flags: "-x: -t: -p: -4 -6",
    operands: "text*",
    script: digWord,
    checkedFlags: "-x -t",
    why: looksUp,
  },
  {
    program: "nslookup",
    class: "medium",
    longDash: true,
    flags: "-type? -query? -q? -debug -timeout?",
    operands: "text text?",
    script: hostName,
    why: looksUp,
  },
  {
    program: "host",
    class: "medium",
    flags: "-t: -a -v -4 -6 -W:",
    operands: "text text?",
    script: hostName,
    why: looksUp,
  },
  {
    program: "traceroute traceroute6 tracepath",
    class: "medium",
    flags: "-n -4 -6 -m: -q: -w:",
    operands: "text",
    script: hostName,
    why: looksUp,
  },
  { program: "whois", class: "medium", operands: "text", script: hostName, why: looksUp },
];

const containerRows: readonly CommandRow[] = [
  { program: "docker podman", class: "read", flags: "-v --version", needs: "-v --version", why: version },
  {
    program: "docker podman",
    class: "medium",
    sub: `ps|container ls|container list|images|image ls|image list|volume ls|network ls|context ls|system df|version|info|compose ps|
      compose ls|compose images|compose version`,
    flags: `-a -q -l -s -n: -f: --all --quiet --latest --size --last: --filter: --format: --no-trunc --digests
      --services --status: --verbose --short`,
    operands: "text*",
    why: daemon,
  },
  {
    program: "docker podman",
    class: "medium",
    sub: "inspect|image inspect|container inspect|volume inspect|network inspect|history|top|port|diff|image history",
    flags: "-f: -s --format: --size --type: --no-trunc -q -H --human",
    operands: "text*",
    why: daemon,
  },
  {
    program: "docker podman",
    class: "medium",
    sub: "logs|container logs|compose logs",
    flags: "-t -n: --timestamps --tail: --since: --until: --details --no-color --no-log-prefix",
    operands: "text*",
    why: daemon,
  },
  {
    program: "docker podman",
    class: "medium",
    sub: "stats",
    needs: "--no-stream",
    flags: "--no-stream -a --all --format: --no-trunc",
    operands: "text*",
    why: daemon,
  },
  {
    program: "kubectl",
    class: "medium",
    sub: `get|describe|logs|top pods|top pod|top nodes|top node|api-resources|api-versions|explain|version|cluster-info|rollout status|
      rollout history|config current-context|config get-contexts`,
    flags: `-n: -A -o: -l: -c: -p -L: --namespace: --all-namespaces --output: --selector: --field-selector:
      --show-labels --no-headers --sort-by: --container: --all-containers --tail: --since: --previous --timestamps
      --context: --limit-bytes: --label-columns: --show-kind --ignore-not-found --client --short --recursive
      --containers --prefix`,
    operands: "text*",
    checkedFlags: "-o --output",
    script: clusterText,
    why: cluster,
  },
];

/** Left out: --web, which opens a browser, and --watch. */
const ghFlags = "-R: -q: -t: --repo: --json: --jq: --template:";
const hostingRows: readonly CommandRow[] = [
  { program: "gh", class: "medium", flags: "--version", needs: "--version", why: version },
  {
    program: "gh",
    class: "medium",
    sub: "pr list|issue list",
    flags: `${ghFlags} -L: -s: -l: -a: -A: -S: -B: -H: -m: -d --limit: --state: --label: --assignee: --author:
      --search: --base: --head: --milestone: --mention: --draft`,
    why: hosting,
  },
  {
    program: "gh",
    class: "medium",
    sub: "pr view|issue view|release view|repo view|run view|workflow view",
    flags: `${ghFlags} -c -b: -j: -v --comments --branch: --log --log-failed --job: --verbose --exit-status
      --yaml`,
    operands: "text?",
    why: hosting,
  },
  {
    program: "gh",
    class: "medium",
    sub: "pr diff|pr checks|pr status|issue status",
    flags: `${ghFlags} --name-only --patch --required --color:`,
    operands: "text?",
    why: hosting,
  },
  {
    program: "gh",
    class: "medium",
    sub: "run list|release list|workflow list|label list|repo list",
    flags: `${ghFlags} -L: -b: -s: -u: --limit: --branch: --status: --user: --workflow: --event:`,
    operands: "text?",
    why: hosting,
  },
  { program: "gh", class: "medium", sub: "auth status", why: hosting },
];

/** These read the system's own records, which are outside the workspace. */
const systemRows: readonly CommandRow[] = [
  {
    program: "systemctl",
    class: "low",
    sub: "status|is-active|is-enabled|is-failed|list-units|list-unit-files|list-timers|list-sockets|list-dependencies",
    flags: `-l -a -q -n: -t: -o: --full --all --quiet --no-pager --lines: --type: --state: --output: --user
      --failed --no-legend --plain`,
    operands: "text*",
    why: logs,
  },
  {
    program: "journalctl",
    class: "low",
    flags: `-# -u: -n: -p: -S: -U: -g: -o: -t: -b? -k -r -x -e -a -q --unit: --lines: --priority: --since:
      --until: --grep: --output: --identifier: --boot? --dmesg --reverse --catalog --all --quiet --no-pager
      --no-hostname --utc --user --system --list-boots --disk-usage --user-unit: --output-fields:`,
    operands: "text*",
    why: logs,
  },
  {
    program: "ip",
    class: "read",
    sub: ipShows(),
    operands: "text*",
    why: "prints this machine's network settings",
  },
  {
    program: "ip",
    class: "read",
    flags: "-4 -6 -s -d -j -o",
    operands: "text",
    script: ipObject,
    why: "prints this machine's network settings",
  },
  {
    program: "ifconfig",
    class: "read",
    flags: "-a -s",
    operands: "text?",
    why: "prints this machine's network settings",
  },
];

function ipShows(): string {
  const objects = "a addr address l link r route n neigh rule".split(" ");
  const shows = objects.flatMap((object) => ["", "-br ", "-4 ", "-6 "].map((flag) => `${flag}${object} show`));
  return [...shows, "route get"].join("|");
}

/** An object name alone shows that object. */
function ipObject(text: string): string | undefined {
  return /^(a|addr|address|l|link|r|route|n|neigh|rule)$/.test(text)
    ? undefined
    : "is not an object that ip only shows";
}

export const networkRows: readonly CommandRow[] = [
  ...webRows,
  ...lookUpRows,
  ...containerRows,
  ...hostingRows,
  ...systemRows,
].map((row) => ({ ...row, knownWords: true }));
