import { NetworkError, type NetworkErrorKind } from "./network-error.ts";

/** A Node error's code. For several connection attempts, the most useful code. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError) {
    const codes = error.errors.map(codeOf);
    return codes.find((code) => code === "ECONNREFUSED") ?? codes[0] ?? "";
  }
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : "";
}

export function isReset(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE"].includes(codeOf(error));
}

/** Explains a failed connection to `where`. */
export function connectFailure(
  error: unknown,
  host: string,
  where: string,
  stage: string,
  remark?: string,
): NetworkError {
  const code = codeOf(error);
  const found = connectWords(code, host, where) ?? tlsFailure(code, where, remark);
  if (found !== undefined) return found;
  if (error === undefined || isReset(error)) return brokenOff(where, stage, code);
  return new NetworkError("unreachable", `Could not connect to ${where} (${code || "no reason given"}).`, code);
}

/** Explains a failure after connecting. */
export function exchangeFailure(error: unknown, where: string, stage: string): NetworkError {
  const code = codeOf(error);
  if (code === "HPE_HEADER_OVERFLOW") {
    return new NetworkError("malformed", `The response headers from ${where} are too large.`, code);
  }
  if (code.startsWith("HPE_")) {
    // The parser's code for a connection that closed early.
    if (code === "HPE_INVALID_EOF_STATE") return brokenOff(where, stage, code);
    return new NetworkError("malformed", `The response from ${where} is not valid HTTP.`, code);
  }
  if (code === "ETIMEDOUT") return new NetworkError("reset", `The connection to ${where} was lost ${stage}.`, code);
  return tlsFailure(code, where, undefined) ?? brokenOff(where, stage, code);
}

export function brokenOff(where: string, stage: string, code: string): NetworkError {
  return new NetworkError("reset", `The connection to ${where} was closed ${stage}.`, code || undefined);
}

export function aborted(where: string): NetworkError {
  return new NetworkError("aborted", `The request to ${where} was aborted.`);
}

export function timedOut(kind: NetworkErrorKind, what: string, milliseconds: number): NetworkError {
  return new NetworkError(kind, `${what} within ${milliseconds / 1000} s.`);
}

function connectWords(code: string, host: string, where: string): NetworkError | undefined {
  switch (code) {
    case "ENOTFOUND":
      return new NetworkError("name", `The host ${host} of ${where} does not exist.`, code);
    case "EAI_AGAIN":
      return new NetworkError(
        "name",
        `The host ${host} of ${where} could not be resolved; the network may be down.`,
        code,
      );
    case "ECONNREFUSED":
      return new NetworkError("refused", `Nothing accepts connections at ${where}.`, code);
    case "ETIMEDOUT":
      return new NetworkError("connect_timeout", `No response from ${where} in time.`, code);
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ENETDOWN":
    case "EHOSTDOWN":
      return new NetworkError("unreachable", `No network route to ${where}.`, code);
    default:
      return code.startsWith("EAI_")
        ? new NetworkError("name", `The host ${host} of ${where} could not be resolved.`, code)
        : undefined;
  }
}

const unknownAuthority = "is signed by an unknown authority";

const certificateFaults: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  INVALID_CA: "is signed by a certificate that is not an authority",
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet (or the clock of this machine is wrong)",
  CERT_REVOKED: "was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
};

function tlsFailure(code: string, where: string, remark: string | undefined): NetworkError | undefined {
  const fault = Object.hasOwn(certificateFaults, code) ? certificateFaults[code] : undefined;
  if (fault !== undefined) {
    const helps = code === "DEPTH_ZERO_SELF_SIGNED_CERT" || fault === unknownAuthority;
    const advice = helps ? "; to trust it, set NODE_EXTRA_CA_CERTS or caFile" : "";
    const addition = helps && remark !== undefined ? ` (${remark})` : "";
    return new NetworkError("tls", `The certificate of ${where} ${fault}${advice}${addition}.`, code);
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    return new NetworkError("tls", `No TLS at ${where}; is it an http address?`, code);
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) {
    return new NetworkError("tls", `The TLS handshake with ${where} failed (${code}).`, code);
  }
  return undefined;
}
