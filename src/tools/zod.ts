import { z } from "zod";

// Compiling validators pays off only in long-lived processes. Must come before the first schema.
z.config({ jitless: true });

export { z };
