/** Whether a promise that never rejects is fulfilled before so many milliseconds have passed. Leaves no timer. */
export function settlesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
