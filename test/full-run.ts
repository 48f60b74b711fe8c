/** Whether everything is tried, as `npm run test:full` does; otherwise what proves most in little time. */
export const isFullRun = process.env.TINMAN_TEST_FULL === "1";
