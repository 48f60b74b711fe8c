import { z } from "zod";
import { sandboxModes } from "../../engine/containment.ts";
import { wholeSandbox } from "../whole-sandbox.ts";
import { modelsSchema } from "./models.ts";
import { named } from "./named-check.ts";
import { interactiveSchema, serveSchema } from "./serve.ts";

const allow = z.array(named(z.string(), "allowRule")).optional();
const deny = z
  .array(named(z.string(), "denyRule"))
  .optional()
  .describe("Commands that never run, as words; * as the last one: any further words.");

const sandbox = z.strictObject({
  mode: z
    .enum(sandboxModes)
    .optional()
    .describe("auto: where it works, which is the default. required: nothing runs where it does not work. off: never."),
  network: z
    .enum(["proven", "all"])
    .optional()
    .describe("Which commands have the network: installers, git and downloads, which is the default, or all."),
  writable: z
    .array(named(z.string(), "writableFolder"))
    .optional()
    .describe("Folders that contained commands can write besides the workspace. A leading ~ is the home."),
});

/** `$TINMAN_HOME/config.yaml`. Documented in docs/configuration.md. */
export const userConfigSchema = z.strictObject({
  model: z.string().min(1).optional().describe("The model of runs that name none; the same as models.default."),
  models: modelsSchema.optional().describe("Models and their other names."),
  fetch: z
    .strictObject({
      allowPrivate: z
        .array(named(z.string().min(1), "privateHost"))
        .optional()
        .describe("Hosts, addresses or blocks in private networks that FetchUrl may ask; * for all."),
    })
    .optional()
    .describe("What FetchUrl may do."),
  context: z
    .strictObject({
      compact: z.boolean().optional().describe("false: long conversations are compacted only when asked."),
      compactAt: z
        .number()
        .positive()
        .optional()
        .describe("Compact a request above so many tokens; up to 1, above this share of the model's window."),
      model: z.string().min(1).optional().describe("The model that writes summaries. Default: the session's own."),
    })
    .optional()
    .describe("How long conversations are kept within the model's window."),
  network: z
    .strictObject({ caFile: z.string().min(1).optional().describe("Certificates to trust besides the usual ones.") })
    .optional()
    .describe("How servers are reached."),
  durability: z
    .enum(["turn", "always"])
    .optional()
    .describe("When the log is forced to the disk: at the end of every turn, or with every record."),
  passEnvironment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a variable name"))
    .optional()
    .describe("Variables that commands get although their names or values look like credentials."),
  permissions: z
    .strictObject({
      allow: allow.describe("Commands that run at every level, as words; * as the last one: any further words."),
      deny,
    })
    .optional()
    .describe("Rules on commands."),
  sandbox: z
    .preprocess(wholeSandbox, sandbox)
    .optional()
    .describe("How commands are contained; a word alone is the mode."),
  serve: serveSchema.optional().describe("The server of tinman serve: who may come in, and how much of it."),
  interactive: interactiveSchema.optional().describe("Sessions over its WebSocket API."),
});

/** An administrator's file, which can only deny. */
export const adminConfigSchema = z.strictObject({ permissions: z.strictObject({ deny }).optional() });

/** The used part of a repository's file. Ignores other keys. */
export const repositoryConfigSchema = z.object({ permissions: z.object({ deny }).optional() });
