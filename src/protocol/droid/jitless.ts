import { config } from "zod/mini";

// Compiling validators pays off in a long life, not in one run. Must come before the first schema is made.
config({ jitless: true });
