/** Numbers of the system calls by which a command could get past all mounts and namespaces. */
interface Calls {
  readonly audit: number;
  /**
   * The kernel's keyrings, then calls that do what the ones below do, but hide their arguments from a filter: `openat2`,
   * `io_uring_setup`, and `socketcall` on 32-bit systems.
   */
  readonly missing: readonly number[];
  readonly socket: number;
  /** Calls that set a file's mode, by the position of that argument. */
  readonly modes: readonly (readonly [argument: number, calls: readonly number[]])[];
  /** Calls that may create a file, with the position of their flags. The mode comes next. */
  readonly opens: readonly (readonly [argument: number, call: number])[];
}

const architectures: Readonly<Record<string, readonly Calls[]>> = {
  x64: [
    {
      audit: 0xc000003e,
      missing: [248, 249, 250, 437, 425],
      socket: 41,
      modes: [
        [1, [85, 90, 91, 133]],
        [2, [259, 268, 452]],
      ],
      opens: [
        [1, 2],
        [2, 257],
      ],
    },
    {
      audit: 0x40000003,
      missing: [286, 287, 288, 437, 425, 102],
      socket: 359,
      modes: [
        [1, [8, 14, 15, 94]],
        [2, [297, 306, 452]],
      ],
      opens: [
        [1, 5],
        [2, 295],
      ],
    },
  ],
  arm64: [
    {
      audit: 0xc00000b7,
      missing: [217, 218, 219, 437, 425],
      socket: 198,
      modes: [
        [1, [52]],
        [2, [33, 53, 452]],
      ],
      opens: [[2, 56]],
    },
    {
      audit: 0x40000028,
      missing: [309, 310, 311, 437, 425, 102],
      socket: 281,
      modes: [
        [1, [8, 14, 15, 94]],
        [2, [324, 333, 452]],
      ],
      opens: [
        [1, 5],
        [2, 322],
      ],
    },
  ],
};

/** Unix, IPv4, IPv6 and netlink sockets. Others have no namespace, such as those to a virtual machine's host. */
const families = [1, 2, 10, 16];
/** `O_CREAT` and `O_TMPFILE`. */
const creates = 0x400040;
/** A file that runs as its owner would be root's for everyone on this machine. */
const setsUser = 0o4000;

const [load, jump, jumpIfEqual, jumpIfAtLeast, jumpIfAny, end] = [0x20, 0x05, 0x15, 0x35, 0x45, 0x06];
const [numberAt, architectureAt] = [0, 4];
const argumentAt = (position: number) => 16 + 8 * position;
const verdicts = {
  allow: 0x7fff0000,
  /** `ENOSYS`, as on a kernel without the call. */
  missing: 0x00050000 | 38,
  forbidden: 0x00050000 | 1,
  unknownFamily: 0x00050000 | 97,
};
/** On x64, the x32 interface makes the same calls with numbers from here on. */
const x32Calls = 0x40000000;

type Target = keyof typeof verdicts | number;
/** Jumps are relative: a number skips as many instructions, a name leads to its verdict. */
type Step = readonly [code: number, value: number, ifTrue?: Target, ifFalse?: Target];

/** Tests an argument if the call is one of these. Otherwise goes on, with the number loaded. */
function checking(calls: readonly number[], steps: readonly Step[]): readonly Step[] {
  const last = calls.length - 1;
  const compare = calls.map((call, at): Step => [jumpIfEqual, call, last - at, at === last ? steps.length : 0]);
  return [...compare, ...steps];
}

function stepsFor({ missing, socket, modes, opens }: Calls): readonly Step[] {
  return [
    [load, numberAt],
    [jumpIfAtLeast, x32Calls, "missing"],
    ...missing.map((call): Step => [jumpIfEqual, call, "missing"]),
    ...checking(
      [socket],
      [
        [load, argumentAt(0)],
        ...families.map((family): Step => [jumpIfEqual, family, "allow"]),
        [jumpIfAny, 0, 0, "unknownFamily"],
      ],
    ),
    ...modes.flatMap(([position, calls]) =>
      checking(calls, [
        [load, argumentAt(position)],
        [jumpIfAny, setsUser, "forbidden", "allow"],
      ]),
    ),
    ...opens.flatMap(([position, call]) =>
      checking(
        [call],
        [
          [load, argumentAt(position)],
          [jumpIfAny, creates, 0, "allow"],
          [load, argumentAt(position + 1)],
          [jumpIfAny, setsUser, "forbidden", "allow"],
        ],
      ),
    ),
  ];
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** One architecture's part: its steps, then a return for each verdict. The first is for everything else. */
function assembled(steps: readonly Step[]): readonly Instruction[] {
  const names = Object.keys(verdicts);
  const distance = (target: Target | undefined, at: number): number =>
    typeof target === "string" ? steps.length - at - 1 + names.indexOf(target) : (target ?? 0);
  return [
    ...steps.map(
      ([code, value, ifTrue, ifFalse], at): Instruction => [code, distance(ifTrue, at), distance(ifFalse, at), value],
    ),
    ...Object.values(verdicts).map((verdict): Instruction => [end, 0, 0, verdict]),
  ];
}

function instructionsFor(cases: readonly Calls[]): readonly Instruction[] {
  const parts = cases.map((calls) => assembled(stepsFor(calls)));
  let behind = 1;
  const dispatch = parts.flatMap((part, at): readonly Instruction[] => {
    const left = 2 * (parts.length - at - 1) + behind;
    behind += part.length;
    // A long way: the distance of a conditional jump is one byte.
    return [
      [jumpIfEqual, 0, 1, cases[at]?.audit ?? 0],
      [jump, 0, 0, left],
    ];
  });
  return [[load, 0, 0, architectureAt], ...dispatch, [end, 0, 0, verdicts.missing], ...parts.flat()];
}

/** A seccomp filter for `bwrap --seccomp`; `undefined` for other processors. */
export function callFilter(arch: string = process.arch): Uint8Array | undefined {
  const cases = Object.hasOwn(architectures, arch) ? architectures[arch] : undefined;
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
