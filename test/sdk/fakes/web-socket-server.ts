import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

const protocolsKey = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcodes = { text: 1, binary: 2, close: 8 };

export interface ServedSocket {
  sendText(text: string): void;
  sendBinary(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
}

export interface WebSocketServer {
  readonly address: string;
  close(): Promise<void>;
}

/** A minimal WebSocket server for tests: no extensions, no fragments, no hostile clients. */
export async function serveWebSockets(onText: (text: string, socket: ServedSocket) => void): Promise<WebSocketServer> {
  const open = new Set<Duplex>();
  const server = createServer();
  server.on("upgrade", (request, stream: Duplex) => {
    open.add(stream);
    stream.on("close", () => open.delete(stream));
    stream.on("error", () => {});
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${protocolsKey}`).digest("base64");
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    let isClosing = false;
    const socket: ServedSocket = {
      sendText: (text) => stream.write(frame(opcodes.text, Buffer.from(text))),
      sendBinary: (bytes) => stream.write(frame(opcodes.binary, bytes)),
      close(code, reason) {
        isClosing = true;
        const body = Buffer.from(`xx${reason}`);
        body.writeUInt16BE(code);
        stream.write(frame(opcodes.close, body));
      },
    };
    let unread = Buffer.alloc(0);
    stream.on("data", (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let next = readFrame(unread); next !== undefined; next = readFrame(unread)) {
        unread = unread.subarray(next.end);
        if (next.opcode === opcodes.text) onText(next.body.toString(), socket);
        if (next.opcode !== opcodes.close) continue;
        // A side that started the close gets no second answer.
        if (isClosing) stream.end();
        else stream.end(frame(opcodes.close, next.body.subarray(0, 2)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      for (const stream of open) stream.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function frame(opcode: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(body.length < 126 ? 2 : 10);
  head[0] = 0x80 | opcode;
  head[1] = body.length < 126 ? body.length : 127;
  if (body.length >= 126) head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, body]);
}

/** A complete client frame, unmasked, or `undefined` if incomplete. */
function readFrame(bytes: Buffer) {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const maskAt = 2 + lengthBytes;
  if (bytes.length < maskAt + 4) return undefined;
  const length =
    lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : short;
  const end = maskAt + 4 + length;
  if (bytes.length < end) return undefined;
  const mask = bytes.subarray(maskAt, maskAt + 4);
  const body = Buffer.from(bytes.subarray(maskAt + 4, end));
  for (let i = 0; i < body.length; i++) body[i] = (body[i] ?? 0) ^ (mask[i % 4] ?? 0);
  return { opcode: first & 0x0f, body, end };
}
