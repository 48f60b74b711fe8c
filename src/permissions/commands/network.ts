import type { CommandRow } from "../command-row.ts";

const version = "prints its version";
const fetches = "fetches something over the network";
const looksUp = "asks other machines over the network";
const daemon = "asks the service that runs containers";
const cluster = "asks a cluster over the network";
const hosting = "asks the hosting service over the network, in the user's name";
const logs = "prints what the system knows about its services";

/** An address of the web, or of this machine; without a password in it. */
function webAddress(text: string): string | undefined {
  const isWeb = /^https?:\/\/[^\s/?#@\\]+([/?#]\S*)?$/i.test(text);
  const isHere = /^(localhost|127\.0\.0\.1)(:\d+)?([/?#]\S*)?$/.test(text);
  return isWeb || isHere ? undefined : "is not a plain address of the web";
}

/** Headers that ask for something and prove nothing. */
function plainHeader(text: string): string | undefined {
  const isPlain =
    /^(accept|accept-(encoding|language)|cache-control|content-type|if-(modified-since|none-match)|range|user-agent)\s*:[^\r\n]*$/i;
  return isPlain.test(text) ? undefined : "sends a header that may be more than a question";
}

/** What curl is to print beside: its own variables, and nothing that it could take for a file. */
function plainOutput(text: string): string | undefined {
  const isPlain = /^(?:\\[nrt]|[\w\s.,=()|-]|:(?=\s)|%\{\w+\})*$/.test(text);
  return isPlain && text.includes("%{") ? undefined : "may read or write a file";
}

/** A redirect to `file:` would print any file, so that protocols can only be narrowed to those of the web. */
function webProtocols(text: string): string | undefined {
  return /^=https?(,https?)*$/.test(text) ? undefined : "allows other protocols than those of the web";
}

/** The texts that curl gets are an address, a header, a method, a format or protocols, and none is harmful as another. */
/** Machines of a cloud ask these addresses for their credentials. */
const metadata = /^(?:[a-z]+:\/\/)?(?:169\.254\.|100\.100\.100\.200|metadata\.|\[?fe80:|\[?fd00:ec2)/i;

function curlText(text: string): string | undefined {
  if (metadata.test(text)) return "may ask a cloud for credentials";
  const kinds = [webAddress(text), plainHeader(text), plainOutput(text), webProtocols(text)];
  return kinds.includes(undefined) || /^(GET|HEAD|OPTIONS)$/.test(text)
    ? undefined
    : "is not a plain question to the web";
}

function wgetText(text: string): string | undefined {
  if (metadata.test(text)) return "may ask a cloud for credentials";
  return webAddress(text) === undefined || plainHeader(text) === undefined
    ? undefined
    : "is not a plain question to the web";
}

function hostName(text: string): string | undefined {
  return /^[a-z\d_][\w.:%-]*$/i.test(text) ? undefined : "is not the name of a machine";
}

/** `dig` also takes a server behind `@` and its own flags behind `+`. */
function digWord(text: string): string | undefined {
  return /^[@+]?[a-z\d_.][\w.:=%-]*$/i.test(text) ? undefined : "is not the name of a machine";
}

/** Secrets are not asked for, and formats not read from files. */
function clusterText(text: string): string | undefined {
  return /secret|-file/i.test(text) ? "may ask for secrets" : undefined;
}

/**
 * Left out: everything that sends (-d, -F, -T, -u, -b, -n, --cert), goes another way (-x, -k, --resolve), reads files (-K), or
 * moves what -o names to another folder (--output-dir).
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

/** Without `-O` it names the file by the address, or by what the server says. */
function wgetName(text: string): string | undefined {
  if (webAddress(text) !== undefined) return wgetText(text);
  const name = /^[^?#]*\/([^/?#]*)/.exec(text.replace(/^https?:\/\/[^/]*/i, ""))?.[1] ?? "";
  return /^\w[\w.+-]*$|^$/.test(name) && !/[?#]/.test(text) ? undefined : "names the file in a way that is not plain";
}

/** In the name of a file curl puts a part of the address in the place of `#1`. */
function noPlaceholder(text: string): string | undefined {
  return text.includes("#") ? "may be put together from the address" : undefined;
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

/** They read what the system keeps about itself, which is not in the workspace. */
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
    why: "prints the network settings of this machine",
  },
  {
    program: "ip",
    class: "read",
    flags: "-4 -6 -s -d -j -o",
    operands: "text",
    script: ipObject,
    why: "prints the network settings of this machine",
  },
  {
    program: "ifconfig",
    class: "read",
    flags: "-a -s",
    operands: "text?",
    why: "prints the network settings of this machine",
  },
];

function ipShows(): string {
  const objects = "a addr address l link r route n neigh rule".split(" ");
  const shows = objects.flatMap((object) => ["", "-br ", "-4 ", "-6 "].map((flag) => `${flag}${object} show`));
  return [...shows, "route get"].join("|");
}

/** Alone, the name of what is shown. */
function ipObject(text: string): string | undefined {
  return /^(a|addr|address|l|link|r|route|n|neigh|rule)$/.test(text) ? undefined : "is not what ip shows";
}

export const networkRows: readonly CommandRow[] = [
  ...webRows,
  ...lookUpRows,
  ...containerRows,
  ...hostingRows,
  ...systemRows,
].map((row) => ({ ...row, knownWords: true }));
