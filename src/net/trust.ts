import { readFile } from "node:fs/promises";
import type { SecureContext } from "node:tls";
import { codeOf } from "./failure.ts";
import { NetworkError } from "./network-error.ts";
import type { Environment } from "./proxy.ts";

type Tls = typeof import("node:tls");

/** What TLS needs: loaded at the first https address, because it costs start-up time. */
export interface Trust {
  readonly tls: Tls;
  readonly context: SecureContext;
  /** Every authority that counts; undefined for Node's defaults. */
  readonly ca: readonly string[] | undefined;
  /** Said with a certificate that is not accepted: why the one that would help may be missing. */
  readonly remark: string | undefined;
}

/**
 * Node's own roots with `NODE_EXTRA_CA_CERTS`, and besides them those of `SSL_CERT_FILE` and of `caFile`.
 * A `caFile` that cannot be used is an error, since somebody chose it for us; an `SSL_CERT_FILE` that cannot is left out and
 * remarked on, since it is often a leftover of another tool.
 */
export async function loadTrust(env: Environment, caFile: string | undefined): Promise<Trust> {
  const tls = process.getBuiltinModule("node:tls");
  const own = caFile === undefined ? undefined : await certificatesIn(caFile);
  if (caFile !== undefined && own === undefined) {
    throw new NetworkError("tls", `The file of certificates ${caFile} (caFile) could not be read or holds none.`);
  }
  const variable = env.SSL_CERT_FILE || undefined;
  const fromVariable = variable === undefined ? undefined : await certificatesIn(variable);
  const more = [own, fromVariable].filter((text) => text !== undefined);
  // Naming any authorities replaces Node's defaults, so these are named too.
  const ca = more.length === 0 ? undefined : [...(await defaultRoots(tls, env)), ...more];
  const lost = variable !== undefined && fromVariable === undefined;
  return {
    tls,
    context: contextWith(tls, ca),
    ca,
    remark: lost ? `SSL_CERT_FILE could not be read or holds no certificate` : undefined,
  };
}

async function defaultRoots(tls: Tls, env: Environment): Promise<readonly string[]> {
  // Newer Nodes can say what they trust by default, the system's store included when they were told to use it.
  const { getCACertificates } = tls as Tls & { getCACertificates?: (type: "default") => readonly string[] };
  const roots = getCACertificates?.("default") ?? tls.rootCertificates;
  const extra = env.NODE_EXTRA_CA_CERTS ? await certificatesIn(env.NODE_EXTRA_CA_CERTS) : undefined;
  return extra === undefined ? roots : [...roots, extra];
}

function contextWith(tls: Tls, ca: string[] | undefined): SecureContext {
  try {
    return tls.createSecureContext(ca === undefined ? {} : { ca });
  } catch (error) {
    throw new NetworkError("tls", "The certificates to trust could not be taken in.", codeOf(error));
  }
}

async function certificatesIn(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(text) ? text : undefined;
}
