import { expect, test } from "vitest";
import { callFilter } from "../../../src/host/sandbox/call-filter.ts";

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly arguments?: readonly number[];
}

/** Runs a filter as the kernel does, and returns its verdict. */
function verdictOf(filter: Uint8Array, call: Call): string {
  const bytes = Buffer.from(filter);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.audit >>> 0, 4);
  for (const [at, value] of (call.arguments ?? []).entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * at);
  let value = 0;
  for (let at = 0; at * 8 < bytes.length; at += 1) {
    const operand = bytes.readUInt32LE(at * 8 + 4);
    const go = (holds: boolean) => bytes.readUInt8(at * 8 + (holds ? 2 : 3));
    const code = bytes.readUInt16LE(at * 8);
    if (code === 0x20) value = data.readUInt32LE(operand);
    else if (code === 0x05) at += operand;
    else if (code === 0x15) at += go(value === operand);
    else if (code === 0x35) at += go(value >= operand);
    else if (code === 0x45) at += go((value & operand) !== 0);
    else if (code === 0x06) return operand === 0x7fff0000 ? "allowed" : `error ${operand & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the filter has no end");
}

const [missing, forbidden, unknownFamily] = ["error 38", "error 1", "error 97"];
const create = 0o101;

/** `socket`, `openat` and `fchmodat` of both kinds of programs that a processor runs. */
const kinds = [
  ...([["x64", 0xc000003e, { socket: 41, open: 257, chmod: 268, keyring: 250 }]] as const),
  ...([["x64", 0x40000003, { socket: 359, open: 295, chmod: 306, keyring: 288 }]] as const),
  ...([["arm64", 0xc00000b7, { socket: 198, open: 56, chmod: 53, keyring: 219 }]] as const),
  ...([["arm64", 0x40000028, { socket: 281, open: 322, chmod: 333, keyring: 311 }]] as const),
];

test.each(kinds)("on %s, programs of kind %i reach nothing past the walls", (arch, audit, calls) => {
  const filter = callFilter(arch) ?? new Uint8Array();
  const verdict = (number: number, ...args: readonly number[]) => verdictOf(filter, { audit, number, arguments: args });
  expect({
    read: verdict(arch === "x64" ? 0 : 63),
    keyring: verdict(calls.keyring),
    openByStruct: verdict(437),
    ring: verdict(425),
    sockets: [1, 2, 10, 16].map((family) => verdict(calls.socket, family, 1)),
    toTheHypervisor: verdict(calls.socket, 40, 1),
    toTheCrypto: verdict(calls.socket, 38, 5),
    chmod: verdict(calls.chmod, -100, 0, 0o755),
    chmodToOwner: verdict(calls.chmod, -100, 0, 0o4755),
    chmodToGroup: verdict(calls.chmod, -100, 0, 0o2755),
    open: verdict(calls.open, -100, 0, 0, 0o4755),
    create: verdict(calls.open, -100, 0, create, 0o644),
    createForOwner: verdict(calls.open, -100, 0, create, 0o4755),
    otherChmod: verdict(452, -100, 0, 0o4755),
  }).toEqual({
    read: "allowed",
    keyring: missing,
    openByStruct: missing,
    ring: missing,
    sockets: ["allowed", "allowed", "allowed", "allowed"],
    toTheHypervisor: unknownFamily,
    toTheCrypto: unknownFamily,
    chmod: "allowed",
    chmodToOwner: forbidden,
    chmodToGroup: "allowed",
    open: "allowed",
    create: "allowed",
    createForOwner: forbidden,
    otherChmod: forbidden,
  });
});

test("programs of another kind can make no call, and other processors have no filter", () => {
  const filter = callFilter("x64") ?? new Uint8Array();
  expect(verdictOf(filter, { audit: 0xc00000b7, number: 63 })).toBe(missing);
  expect(verdictOf(filter, { audit: 0xc000003e, number: 0x40000000 + 41 })).toBe(missing);
  expect([callFilter("ia32"), callFilter("constructor")]).toEqual([undefined, undefined]);
});
