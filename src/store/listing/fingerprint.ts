/** A 64-bit hash as hex, not for security. It avoids the crypto module, which would be the slowest one at start-up. */
export function fingerprint(text: string): string {
  let [a, b] = [0x9e3779b9, 0x85ebca6b];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ ((unit << 7) | (unit >>> 9)), 0x5bd1e995);
    b ^= a >>> 13;
  }
  return mixed(a ^ text.length) + mixed(b ^ Math.imul(a, 0x27d4eb2f));
}

function mixed(value: number): string {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return ((bits ^ (bits >>> 16)) >>> 0).toString(16).padStart(8, "0");
}
