/** A failed connection, described for a person. */
export class SocketFault extends Error {
  /** Retrying would fail the same way. */
  readonly isFinal: boolean;

  constructor(words: string, isFinal: boolean) {
    super(words);
    this.name = "SocketFault";
    this.isFinal = isFinal;
  }
}

/** The handshake was refused. `token` says where the token came from. */
export function faultOfStatus(status: number, address: string, token: string): SocketFault {
  switch (status) {
    case 401:
      return new SocketFault(`${address} rejected the token (401). ${token}`, true);
    case 403:
      return new SocketFault(
        `${address} denied access (403). Its host may be missing in serve.hosts, or the token's role is too low.`,
        true,
      );
    case 404:
      return new SocketFault(`Nothing found at ${address} (404). The API of tinman serve is at /ws.`, true);
    case 503:
      return new SocketFault(`${address} accepts no connections now (503): it is stopping, or has too many.`, false);
    default:
      return new SocketFault(`${address} is not a WebSocket: it answered with HTTP ${status}.`, status < 500);
  }
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there. Start a server with tinman serve",
  ECONNRESET: "the other side closed the connection",
  ENOTFOUND: "the host does not exist",
  EAI_AGAIN: "the host's name could not be looked up",
  ETIMEDOUT: "it did not answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
};

const certificateFault = /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;
const notHttp = /^(?:HPE_|ERR_HTTP)/;

export function faultOfError(error: Error, address: string): SocketFault {
  const { code = "", message } = error as NodeJS.ErrnoException;
  // Each address of the name was tried, and has its own error.
  if (code === "" && error instanceof AggregateError && error.errors[0] instanceof Error)
    return faultOfError(error.errors[0], address);
  const because = (words: string, isFinal: boolean) => new SocketFault(`Cannot reach ${address}: ${words}.`, isFinal);
  if (certificateFault.test(code))
    return because(
      `its certificate is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to a file with additional certificates`,
      true,
    );
  if (code === "EPROTO") return because("it does not speak TLS. Use ws:// for an address without TLS", true);
  // Matched by text: these errors of the library have no codes.
  if (notHttp.test(code) || message.startsWith("Invalid ")) return because("it is not a WebSocket", true);
  if (message === "Opening handshake has timed out") return because("it did not answer", false);
  if (message === "socket hang up") return because("the other side closed the connection", false);
  return because(causes[code] ?? message, false);
}

/** Why the server closed the connection; undefined if reconnecting may help. */
export function finalClose(code: number, reason: string): string | undefined {
  const said = reason === "" ? "" : `: ${reason}`;
  switch (code) {
    case 1008:
      return `The server closed the connection (1008)${said}.`;
    case 1009:
      return `A message was too long for the server (1009)${said}.`;
    case 1002:
    case 1003:
    case 1007:
      return `The server rejected a malformed message (${code})${said}.`;
    default:
      return code >= 3000 ? `The server closed the connection (${code})${said}.` : undefined;
  }
}
