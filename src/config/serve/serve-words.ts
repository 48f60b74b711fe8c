/** Values and formats of `serve` and `interactive`. */

/* Copies of lists from `access` and `frontends`, which `config` does not import. A test compares them. */
export const userRoles = ["admin", "user", "viewer"] as const;
export const toolExecutions = ["client", "server"] as const;

/** Who can open `/rpc`. */
export const rpcClients = ["everybody", "admins", "nobody"] as const;

const longestName = 64;

/** Why this is not a valid user name, if so. */
export function userNameFault(name: string): string | undefined {
  if (name === "local") return '"local" is reserved for this machine\'s own token. Choose another name';
  const isName = name.length <= longestName && /^[\p{L}\p{N}][\p{L}\p{N}._@+-]*$/u.test(name);
  return isName ? undefined : `must have 1 to ${longestName} letters, digits, or characters of . _ @ + -`;
}

/** Why sessions cannot work in this folder, if so. */
export function folderFault(folder: string): string | undefined {
  return folder.startsWith("/") ? undefined : `must be an absolute path, got ${JSON.stringify(folder)}`;
}

/** Does not quote the text, which may be the token itself. */
export function tokenHashFault(text: string): string | undefined {
  const isHash = /^sha256:[0-9a-f]{64}$/.test(text);
  return isHash ? undefined : "must be sha256: and 64 digits, as `tinman serve token` prints it";
}

/** Why this is not a valid `Host` name, if so. */
export function hostFault(host: string): string | undefined {
  if (/^[a-z]+:\/\//i.test(host)) return "must be a name without http://";
  if (
    /^\[[0-9a-f:.]+\]$/.test(host) ||
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(host)
  )
    return undefined;
  if (/:\d+$/.test(host)) return "must be a name without a port; it covers every port";
  return /[A-Z]/.test(host) ? "must be lower case" : "must be a host name or address, such as agent.example.org";
}

/** Why this is not a valid browser `Origin`, if so. */
export function originFault(origin: string): string | undefined {
  if (origin === "null") return '"null" cannot be allowed, because every sandboxed page and local file has this origin';
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return "must be an origin, such as https://agent.example.org";
  }
  if (url.origin === origin && url.origin !== "null") return undefined;
  const hint = url.origin === "null" ? "" : `: ${url.origin}`;
  return `must be an origin as a browser writes it, without a path${hint}`;
}
