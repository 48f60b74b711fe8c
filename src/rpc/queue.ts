/** A FIFO queue with constant-time operations. */
interface Queue<T> {
  readonly length: number;
  push(item: T): void;
  shift(): T | undefined;
  clear(): void;
}

/** Empty slots at the front are freed in batches, which keeps `shift` cheap and memory bounded. */
const maxEmpty = 64;

export function createQueue<T>(): Queue<T> {
  let items: (T | undefined)[] = [];
  let first = 0;
  return {
    get length() {
      return items.length - first;
    },
    push(item) {
      items.push(item);
    },
    shift() {
      if (first === items.length) return undefined;
      const item = items[first];
      items[first++] = undefined;
      if (first === items.length) {
        items = [];
        first = 0;
      } else if (first > maxEmpty && 2 * first > items.length) {
        items = items.slice(first);
        first = 0;
      }
      return item;
    },
    clear() {
      items = [];
      first = 0;
    },
  };
}
