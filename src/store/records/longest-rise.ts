/**
 * Indexes of the longest strictly increasing subsequence; the first of equal numbers counts. It drops a single wrong seq
 * without losing the records after it.
 */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** `ends[n]`: index of the lowest number that ends a subsequence of length n + 1. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  const numberAt = (length: number): number => numbers[ends[length] ?? -1] ?? Number.POSITIVE_INFINITY;
  for (const [place, number] of numbers.entries()) {
    let length = 0;
    for (let longer = ends.length; length < longer; ) {
      const middle = (length + longer) >> 1;
      if (numberAt(middle) < number) length = middle + 1;
      else longer = middle;
    }
    before.push(ends[length - 1]);
    if (numberAt(length) !== number) ends[length] = place;
  }
  const places: number[] = [];
  for (let place = ends.at(-1); place !== undefined; place = before[place]) places.push(place);
  return places.reverse();
}
