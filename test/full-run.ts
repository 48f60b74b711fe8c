/** Whether to run everything, as `npm run test:full` does; otherwise the most significant tests in little time. */
export const isFullRun = process.env.TINMAN_TEST_FULL === "1";

/** `TINMAN_TEST_SEED` repeats the random choices of a failed run, whose report names the seed. */
export const givenSeed = process.env.TINMAN_TEST_SEED === undefined ? undefined : Number(process.env.TINMAN_TEST_SEED);
