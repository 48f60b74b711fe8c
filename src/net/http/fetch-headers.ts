/** Headers as `fetch` accepts them. */
export type HeadersLike =
  | Iterable<readonly [string, string | undefined]>
  | Readonly<Record<string, string | undefined>>
  | null
  | undefined;

/**
 * Replaces the platform's `Headers`, which loads all of Node's `fetch` (about 30 ms). Names are lower-case and sorted. Values
 * are checked on sending, because the platform's error would quote the value, which can be a key.
 */
export class FetchHeaders {
  readonly #values = new Map<string, string>();

  constructor(init?: HeadersLike) {
    for (const [name, value] of pairsOf(init)) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }

  forEach(act: (value: string, name: string, headers: FetchHeaders) => void, self?: unknown): void {
    for (const [name, value] of this) act.call(self, value, name, this);
  }

  *entries(): Generator<[string, string], undefined, void> {
    yield* [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1));
    return undefined;
  }

  *keys(): Generator<string, undefined, void> {
    for (const [name] of this) yield name;
    return undefined;
  }

  *values(): Generator<string, undefined, void> {
    for (const [, value] of this) yield value;
    return undefined;
  }

  [Symbol.iterator](): Generator<[string, string], undefined, void> {
    return this.entries();
  }
}

/** The headers that have a value, as pairs. */
export function* pairsOf(headers: HeadersLike): Generator<[string, string], void, void> {
  if (headers === null || headers === undefined) return;
  const pairs =
    Symbol.iterator in headers ? (headers as Iterable<readonly [string, string | undefined]>) : Object.entries(headers);
  for (const [name, value] of pairs) {
    if (value !== undefined && value !== null) yield [name, value];
  }
}
