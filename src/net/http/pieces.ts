import type { NetworkError } from "../network-error.ts";
import type { Body } from "./body.ts";

/** Several socket reads, to avoid pausing after each. */
const enoughBytes = 256 * 1024;

/** The body as an async iterable with bounded read-ahead. Leaving the loop closes the socket. */
export async function* piecesOf(body: Body): AsyncGenerator<Uint8Array, void, void> {
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let over: "ended" | NetworkError | undefined;
  let wake = () => {};
  body.flowTo({
    piece(piece) {
      waiting.push(piece);
      bytes += piece.byteLength;
      if (bytes >= enoughBytes) body.pause();
      wake();
    },
    end() {
      over = "ended";
      wake();
    },
    fail(error) {
      over = error;
      wake();
    },
  });
  try {
    for (;;) {
      const taken = waiting.splice(0);
      bytes = 0;
      yield* taken;
      if (waiting.length > 0) continue;
      if (over === "ended") return;
      if (over !== undefined) throw over;
      body.resume();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    body.close();
  }
}
