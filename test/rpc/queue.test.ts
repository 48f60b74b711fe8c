import { expect, test } from "vitest";
import { createQueue } from "../../src/rpc/queue.ts";

test("keeps the order through many pushes and shifts", () => {
  const queue = createQueue<number>();
  const seen: (number | undefined)[] = [];
  let next = 0;
  for (let round = 0; round < 500; round += 1) {
    for (let count = 0; count < (round * 7) % 5; count += 1) queue.push(next++);
    for (let count = 0; count < (round * 3) % 4; count += 1) if (queue.length > 0) seen.push(queue.shift());
  }
  const rest = queue.length;
  while (queue.length > 0) seen.push(queue.shift());
  expect([seen, rest > 100, queue.shift()]).toEqual([Array.from({ length: next }, (_, at) => at), true, undefined]);
  queue.push(1);
  queue.clear();
  expect([queue.length, queue.shift()]).toEqual([0, undefined]);
});
