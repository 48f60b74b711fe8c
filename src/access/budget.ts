/** An amount that each user can hold at once. */
export function createBudget(most: number, refusal: (held: number) => Error) {
  const held = new Map<string, number>();
  const add = (user: string, amount: number): void => {
    const now = (held.get(user) ?? 0) + amount;
    if (now === 0) held.delete(user);
    else held.set(user, now);
  };
  return {
    /** Throws if the budget is exceeded. The returned function releases the amount. */
    take(user: string, amount: number): () => void {
      const before = held.get(user) ?? 0;
      if (before + amount > most) throw refusal(before);
      add(user, amount);
      return () => add(user, -amount);
    },
  };
}
