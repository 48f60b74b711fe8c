/** A failed connection, described for a person. */
export class SocketFault extends Error {
  /** Trying again would fail the same way. */
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
      return new SocketFault(`${address} wants a token that it knows (401). ${token}`, true);
    case 403:
      return new SocketFault(
        `${address} does not allow this (403): its host may be missing in serve.hosts, or the token's role is not enough.`,
        true,
      );
    case 404:
      return new SocketFault(`There is nothing at ${address} (404). The API of tinman serve is at /ws.`, true);
    case 503:
      return new SocketFault(`${address} takes no connections now (503): it is stopping, or has too many.`, false);
    default:
      return new SocketFault(`${address} is no WebSocket: it answered with HTTP ${status}.`, status < 500);
  }
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there. Is the server running? tinman serve starts one",
  ECONNRESET: "the other side hung up",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name could not be looked up",
  ETIMEDOUT: "it did not answer",
  EHOSTUNREACH: "there is no way to that host",
  ENETUNREACH: "there is no way to that network",
};

const certificateFault = /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;
const notHttp = /^(?:HPE_|ERR_HTTP)/;

export function faultOfError(error: Error, address: string): SocketFault {
  const { code = "", message } = error as NodeJS.ErrnoException;
  // Every address of the name was tried, and each has its own error.
  if (code === "" && error instanceof AggregateError && error.errors[0] instanceof Error)
    return faultOfError(error.errors[0], address);
  const because = (words: string, isFinal: boolean) =>
    new SocketFault(`${address} could not be reached: ${words}.`, isFinal);
  if (certificateFault.test(code))
    return because(
      `its certificate is not trusted (${code}). NODE_EXTRA_CA_CERTS names a file with more of them`,
      true,
    );
  if (code === "EPROTO") return because("it does not speak TLS: an address without TLS begins with ws://", true);
  // Foreign prose: these errors of the library have no codes.
  if (notHttp.test(code) || message.startsWith("Invalid ")) return because("it is no WebSocket", true);
  if (message === "Opening handshake has timed out") return because("it did not answer", false);
  if (message === "socket hang up") return because("the other side hung up", false);
  return because(causes[code] ?? message, false);
}

/** Why the server closed the connection; undefined if reconnecting may help. */
export function finalClose(code: number, reason: string): string | undefined {
  const said = reason === "" ? "" : `: ${reason}`;
  switch (code) {
    case 1008:
      return `The server has ended the connection (1008)${said}.`;
    case 1009:
      return `A message was too long for the server (1009)${said}.`;
    case 1002:
    case 1003:
    case 1007:
      return `The server did not understand a message (${code})${said}.`;
    default:
      return code >= 3000 ? `The server has ended the connection (${code})${said}.` : undefined;
  }
}
