/** Whether everything is tried, as `npm run test:full` does; otherwise what proves most in little time. */
export const isFullRun = process.env.TINMAN_TEST_FULL === "1";

/** `TINMAN_TEST_SEED` repeats what was drawn in a run that failed: its report names the seed. */
export const givenSeed = process.env.TINMAN_TEST_SEED === undefined ? undefined : Number(process.env.TINMAN_TEST_SEED);
