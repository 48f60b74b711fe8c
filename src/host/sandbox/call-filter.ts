/** System calls for the kernel's keyrings, whose keys no mount can hide. */
const architectures = {
  x64: [
    { audit: 0xc000003e, calls: [248, 249, 250] },
    { audit: 0x40000003, calls: [286, 287, 288] },
  ],
  arm64: [
    { audit: 0xc00000b7, calls: [217, 218, 219] },
    { audit: 0x40000028, calls: [309, 310, 311] },
  ],
} as const;

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const end = 0x06;
const [numberAt, architectureAt] = [0, 4];
const allow = 0x7fff0000;
/** Fails with `ENOSYS`, as on a kernel without the call. */
const missing = 0x00050000 | 38;
/** On x64, the x32 interface makes the same calls with numbers from here on. */
const x32Calls = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

function instructionsFor(cases: (typeof architectures)[keyof typeof architectures]): readonly Instruction[] {
  const sections = cases.map(({ calls }): readonly Instruction[] => [
    [load, 0, 0, numberAt],
    [jumpIfAtLeast, calls.length + 1, 0, x32Calls],
    ...calls.map((call, at): Instruction => [jumpIfEqual, calls.length - at, 0, call]),
    [end, 0, 0, allow],
    [end, 0, 0, missing],
  ]);
  let behind = 0;
  const dispatch = cases.map(({ audit }, at): Instruction => {
    const distance = cases.length - at + behind;
    behind += sections[at]?.length ?? 0;
    return [jumpIfEqual, distance, 0, audit];
  });
  return [[load, 0, 0, architectureAt], ...dispatch, [end, 0, 0, missing], ...sections.flat()];
}

/** A seccomp filter for `bwrap --seccomp`; `undefined` for other processors. */
export function callFilter(arch: string = process.arch): Uint8Array | undefined {
  const cases = Object.hasOwn(architectures, arch) ? architectures[arch as keyof typeof architectures] : undefined;
  if (cases === undefined) return undefined;
  const instructions = instructionsFor(cases);
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [at, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(ifFalse, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
  }
  return bytes;
}
