import { readFile } from "node:fs/promises";
import type { SecureContext } from "node:tls";
import { codeOf } from "../failure.ts";
import { NetworkError } from "../network-error.ts";
import type { Environment } from "./proxy.ts";

type Tls = typeof import("node:tls");

/** TLS settings, loaded at the first https request to keep start-up fast. */
export interface Trust {
  readonly tls: Tls;
  readonly context: SecureContext;
  /** All trusted authorities; `undefined` for Node's defaults. */
  readonly ca: readonly string[] | undefined;
  /** Added to a certificate error: why a trusted authority may be missing. */
  readonly remark: string | undefined;
}

/**
 * Node's roots, `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE` and `caFile` together. An unusable `caFile` is an error. An unusable
 * `SSL_CERT_FILE`, often left over from another tool, only leads to a remark.
 */
export async function loadTrust(env: Environment, caFile: string | undefined): Promise<Trust> {
  const tls = process.getBuiltinModule("node:tls");
  const own = caFile === undefined ? undefined : await certificatesIn(caFile);
  if (caFile !== undefined && own === undefined) {
    throw new NetworkError("tls", `The certificate file ${caFile} (caFile) is unreadable or has no certificates.`);
  }
  const variable = env.SSL_CERT_FILE || undefined;
  const fromVariable = variable === undefined ? undefined : await certificatesIn(variable);
  const more = [own, fromVariable].filter((text) => text !== undefined);
  // Passing any authorities replaces Node's defaults, so include them.
  const ca = more.length === 0 ? undefined : [...(await defaultRoots(tls, env)), ...more];
  const lost = variable !== undefined && fromVariable === undefined;
  return {
    tls,
    context: contextWith(tls, ca),
    ca,
    remark: lost ? `SSL_CERT_FILE is unreadable or has no certificates` : undefined,
  };
}

async function defaultRoots(tls: Tls, env: Environment): Promise<readonly string[]> {
  // Newer Node versions report their defaults, including the system's store if it is enabled.
  const { getCACertificates } = tls as Tls & { getCACertificates?: (type: "default") => readonly string[] };
  const roots = getCACertificates?.("default") ?? tls.rootCertificates;
  const extra = env.NODE_EXTRA_CA_CERTS ? await certificatesIn(env.NODE_EXTRA_CA_CERTS) : undefined;
  return extra === undefined ? roots : [...roots, extra];
}

function contextWith(tls: Tls, ca: string[] | undefined): SecureContext {
  try {
    return tls.createSecureContext(ca === undefined ? {} : { ca });
  } catch (error) {
    throw new NetworkError("tls", "The trusted certificates could not be loaded.", codeOf(error));
  }
}

async function certificatesIn(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(text) ? text : undefined;
}
