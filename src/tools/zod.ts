import { z } from "zod";

// Compiling validators pays off in a long life, not in one run. Must come before the first schema is made.
z.config({ jitless: true });

export { z };
