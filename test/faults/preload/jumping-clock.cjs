// Makes the time of day jump back and ahead. FAULT_CLOCK is the seed of the jumps.
let state = Number(process.env.FAULT_CLOCK) >>> 0;
const draw = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const second = 1_000;
const day = 86_400 * second;
const jumps = [-400 * day, -day, -90 * second, -5 * second, -1, 0, 5 * second, 90 * second, day, 4_000 * day];
const RealDate = Date;
let offset = 0;
const now = () => {
  if (draw() < 0.3) offset = jumps[Math.floor(draw() * jumps.length)] ?? 0;
  return RealDate.now() + offset;
};

class JumpingDate extends RealDate {
  /** @param {any[]} given */
  constructor(...given) {
    if (given.length === 0) super(now());
    // @ts-expect-error any of the forms that a date can be made from
    else super(...given);
  }

  /** @override */
  static now() {
    return now();
  }
}
globalThis.Date = /** @type {any} */ (JumpingDate);
