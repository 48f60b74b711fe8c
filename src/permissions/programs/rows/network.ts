import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";

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

const webRows: readonly CommandRow[] = readTable(
  `
  read curl wget: prints its version
    needs=(-V --version) -V --version
  read ssh: prints its version
    needs=-V -V
  medium curl (text*): fetches something over the network
    checkedFlags=(-H --header -X --request -w --write-out --proto --proto-redir) script=curlText path=noPlaceholder
    ${curlFlags}
  medium wget (text*): fetches something over the network
    needs=(-O --output-document) checkedFlags=--header script=wgetText ${wgetFlags} -O> --output-document>
  medium wget (text*): fetches something over the network
    checkedFlags=--header script=wgetName picksNames=file ${wgetFlags} -P> --directory-prefix>
`,
  { curlText, noPlaceholder, wgetText, wgetName },
);

const lookUpRows: readonly CommandRow[] = readTable(
  `
  medium ping ping6 (text): queries other machines over the network
    script=hostName -c: -i: -W: -w: -s: -t: -n -q -4 -6
  medium dig (text*): queries other machines over the network
    script=digWord checkedFlags=(-x -t) -x: -t: -p: -4 -6
  medium nslookup (text text?): queries other machines over the network
    longDash script=hostName -type? -query? -q? -debug -timeout?
  medium host (text text?): queries other machines over the network
    script=hostName -t: -a -v -4 -6 -W:
  medium traceroute traceroute6 tracepath (text): queries other machines over the network
    script=hostName -n -4 -6 -m: -q: -w:
  medium whois (text): queries other machines over the network
    script=hostName
`,
  { hostName, digWord },
);

const containerRows: readonly CommandRow[] = readTable(
  `
  read docker podman: prints its version
    needs=(-v --version) -v --version
  medium docker podman [ps|container ls|container list|images|image ls|image list|volume ls|network ls|context ls|
    system df|version|info|compose ps|compose ls|compose images|compose version] (text*): queries the container service
    -a -q -l -s -n: -f: --all --quiet --latest --size --last: --filter: --format: --no-trunc --digests --services
    --status: --verbose --short
  medium docker podman [inspect|image inspect|container inspect|volume inspect|network inspect|history|top|port|diff|
    image history] (text*): queries the container service
    -f: -s --format: --size --type: --no-trunc -q -H --human
  medium docker podman [logs|container logs|compose logs] (text*): queries the container service
    -t -n: --timestamps --tail: --since: --until: --details --no-color --no-log-prefix
  medium docker podman [stats] (text*): queries the container service
    needs=--no-stream --no-stream -a --all --format: --no-trunc
  medium kubectl [get|describe|logs|top pods|top pod|top nodes|top node|api-resources|api-versions|explain|version|
    cluster-info|rollout status|rollout history|config current-context|config get-contexts] (text*): queries a cluster over the network
    checkedFlags=(-o --output) script=clusterText -n: -A -o: -l: -c: -p -L: --namespace: --all-namespaces --output:
    --selector: --field-selector: --show-labels --no-headers --sort-by: --container: --all-containers --tail: --since:
    --previous --timestamps --context: --limit-bytes: --label-columns: --show-kind --ignore-not-found --client --short
    --recursive --containers --prefix
`,
  { clusterText },
);

/** Left out: --web, which opens a browser, and --watch. */
const ghFlags = "-R: -q: -t: --repo: --json: --jq: --template:";
const hostingRows: readonly CommandRow[] = readTable(`
  medium gh: prints its version
    needs=--version --version
  medium gh [pr list|issue list]: queries the hosting service over the network, in the user's name
    ${ghFlags} -L: -s: -l: -a: -A: -S: -B: -H: -m: -d --limit: --state: --label: --assignee: --author: --search: --base:
    --head: --milestone: --mention: --draft
  medium gh [pr view|issue view|release view|repo view|run view|workflow view] (text?):
    queries the hosting service over the network, in the user's name
    ${ghFlags} -c -b: -j: -v --comments --branch: --log --log-failed --job: --verbose --exit-status --yaml
  medium gh [pr diff|pr checks|pr status|issue status] (text?):
    queries the hosting service over the network, in the user's name
    ${ghFlags} --name-only --patch --required --color:
  medium gh [run list|release list|workflow list|label list|repo list] (text?):
    queries the hosting service over the network, in the user's name
    ${ghFlags} -L: -b: -s: -u: --limit: --branch: --status: --user: --workflow: --event:
  medium gh [auth status]: queries the hosting service over the network, in the user's name
`);

/** These read the system's own records, which are outside the workspace. */
const systemRows: readonly CommandRow[] = readTable(
  `
  low systemctl [status|is-active|is-enabled|is-failed|list-units|list-unit-files|list-timers|list-sockets|
    list-dependencies] (text*): prints the status or logs of system services
    -l -a -q -n: -t: -o: --full --all --quiet --no-pager --lines: --type: --state: --output: --user --failed --no-legend
    --plain
  low journalctl (text*): prints the status or logs of system services
    -# -u: -n: -p: -S: -U: -g: -o: -t: -b? -k -r -x -e -a -q --unit: --lines: --priority: --since: --until: --grep:
    --output: --identifier: --boot? --dmesg --reverse --catalog --all --quiet --no-pager --no-hostname --utc --user
    --system --list-boots --disk-usage --user-unit: --output-fields:
  read ip [${ipShows()}] (text*): prints this machine's network settings
  read ip (text): prints this machine's network settings
    script=ipObject -4 -6 -s -d -j -o
  read ifconfig (text?): prints this machine's network settings
    -a -s
`,
  { ipObject },
);

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
