/** Of a line that a backend sends. A session's history is one line, and V8 has no longer strings. */
export const defaultMaxLineBytes = 0x1fff_ffe8;
