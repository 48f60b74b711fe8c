/** Of a line that a backend sends: what JSON makes of a longer one may be too much for a process. */
export const defaultMaxLineBytes = 64 * 1024 * 1024;
