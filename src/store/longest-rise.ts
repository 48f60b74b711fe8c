/**
 * The places of the longest row of numbers that only rises, in order; of equal numbers the first counts. A number that is
 * wrong falls out of it, and takes none of those behind it along.
 */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** By the length of a row less one: the place at which the lowest row of this length ends. */
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
