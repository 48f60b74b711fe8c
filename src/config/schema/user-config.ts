import { z } from "zod";
import { sandboxModes } from "../../engine/containment.ts";
import { wholeSandbox } from "../check/whole-forms.ts";
import { modelsSchema } from "./models.ts";
import { named } from "./named-check.ts";
import { interactiveSchema, serveSchema } from "./serve.ts";
import { serversSchema } from "./servers.ts";

const allow = z.array(named(z.string(), "allowRule")).optional();
const deny = z
  .array(named(z.string(), "denyRule"))
  .optional()
  .describe("Commands that never run. A final * matches any further words.");

const sandbox = z.strictObject({
  mode: z
    .enum(sandboxModes)
    .optional()
    .describe("auto (default): where possible. required: commands run only contained. off: never."),
  network: z
    .enum(["proven", "all"])
    .optional()
    .describe("Commands with network access. proven (default): installers, git and downloads."),
  writable: z
    .array(named(z.string(), "writableFolder"))
    .optional()
    .describe("Folders that contained commands can write besides the workspace. ~ is the home."),
});

/** `$TINMAN_HOME/config.yaml`. Documented in docs/configuration.md. */
export const userConfigSchema = z.strictObject({
  model: z.string().min(1).optional().describe("Default model; the same as models.default."),
  models: modelsSchema.optional().describe("Models and aliases."),
  fetch: z
    .strictObject({
      allowPrivate: z
        .array(named(z.string().min(1), "privateHost"))
        .optional()
        .describe("Hosts, addresses or blocks in private networks that FetchUrl can reach; * for all."),
    })
    .optional()
    .describe("Settings of FetchUrl."),
  context: z
    .strictObject({
      compact: z.boolean().optional().describe("false: compact long conversations only on request."),
      compactAt: z
        .number()
        .positive()
        .optional()
        .describe("Compact requests above this many tokens; up to 1, this share of the model's window."),
      model: z.string().min(1).optional().describe("The model that writes summaries. Default: the session's own."),
    })
    .optional()
    .describe("Compaction of long conversations."),
  network: z
    .strictObject({ caFile: z.string().min(1).optional().describe("File with additional certificates to trust.") })
    .optional()
    .describe("Network settings."),
  durability: z
    .enum(["turn", "always"])
    .optional()
    .describe("When the log is synced to disk: at the end of every turn, or with every record."),
  passEnvironment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a variable name"))
    .optional()
    .describe("Variables passed to commands even if they look like credentials."),
  permissions: z
    .strictObject({
      allow: allow.describe("Commands that run at every level. A final * matches any further words."),
      deny,
    })
    .optional()
    .describe("Command rules."),
  sandbox: z.preprocess(wholeSandbox, sandbox).optional().describe("Containment of commands; a string sets the mode."),
  mcp: serversSchema.optional().describe("MCP servers, whose tools the model can use."),
  serve: serveSchema.optional().describe("Access and limits of tinman serve."),
  interactive: interactiveSchema.optional().describe("Sessions over its WebSocket API."),
});

/** An administrator's file, which can only deny. */
export const adminConfigSchema = z.strictObject({ permissions: z.strictObject({ deny }).optional() });

/** The used part of a repository's file. Ignores other keys. */
export const repositoryConfigSchema = z.object({ permissions: z.object({ deny }).optional() });
