import { config } from "zod/mini";

// Compiling validators doesn't pay off in short runs. Must run before the first schema is created.
config({ jitless: true });
