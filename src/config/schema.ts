import { z } from "zod";

/** `$TINMAN_HOME/config.yaml`. Documented in docs/configuration.md. */
export const userConfigSchema = z.strictObject({
  model: z.string().min(1).optional().describe("The model of runs that name none."),
  durability: z
    .enum(["turn", "always"])
    .optional()
    .describe("When the log is forced to the disk: at the end of every turn, or with every record."),
  passEnvironment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a variable name"))
    .optional()
    .describe("Variables that commands get although their names look like credentials."),
});

export type UserConfig = z.infer<typeof userConfigSchema>;
