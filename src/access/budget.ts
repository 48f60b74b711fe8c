/** An amount that each user can hold at a time. */
export function createBudget(most: number, refusal: (held: number) => Error) {
  const held = new Map<string, number>();
  const add = (user: string, amount: number): void => {
    const now = (held.get(user) ?? 0) + amount;
    if (now === 0) held.delete(user);
    else held.set(user, now);
  };
  return {
    /** Throws if it would be too much. The returned function gives it back. */
    take(user: string, amount: number): () => void {
      const before = held.get(user) ?? 0;
      if (before + amount > most) throw refusal(before);
      add(user, amount);
      return () => add(user, -amount);
    },
  };
}
