import { z } from "zod";
import { named } from "./named-check.ts";

const variable = `\${NAME} is replaced by that environment variable`;
const text = named(z.string(), "serverText");
const port = z.number().int().positive().max(65_535);

const oauthFields = {
  clientId: z.string().min(1).optional().describe("The client registered there. Default: registered at the sign-in."),
  clientSecret: text.optional().describe(`Its secret; ${variable}.`),
  scopes: z.array(z.string().min(1)).optional(),
  resource: named(z.union([z.boolean(), z.string()]), "notTrue")
    .optional()
    .describe("The resource that tokens are for; false: none. Default: the server's own word."),
  authorizationServerIssuer: z.string().min(1).optional(),
  clientMetadataUrl: z.string().min(1).optional().describe("An address that describes the client."),
  callbackPort: port.optional().describe("Port of this machine for the browser's answer. Default: any."),
  tokenEndpointAuthMethod: z.enum(["none", "client_secret_basic", "client_secret_post"]).optional(),
};

function fieldsWith<T extends z.ZodType>(oauth: T) {
  return {
    type: z.enum(["stdio", "http", "sse"]).optional().describe("Default: stdio with a command, http with a url."),
    command: named(z.string(), "serverCommand").optional().describe(`The program to start; ${variable}.`),
    args: z.array(text).optional().describe(`Its arguments; ${variable}.`),
    env: z
      .record(named(z.string(), "environmentName"), text)
      .optional()
      .describe(`Its environment, besides the usual variables; ${variable}.`),
    contained: z.boolean().optional().describe("true: run the program in the sandbox."),
    url: named(z.string(), "serverUrl").optional().describe(`The server's address; ${variable}.`),
    headers: z
      .record(named(z.string(), "headerName"), named(z.string(), "headerText"))
      .optional()
      .describe(`Sent with every request; ${variable}.`),
    oauth: named(z.union([z.boolean(), oauth]), "notTrue")
      .optional()
      .describe("How to sign in; false: never."),
    tools: z
      .record(z.string().min(1), z.enum(["read", "low", "medium", "high"]))
      .optional()
      .describe("Classes of the server's tools, which replace Tinman's own judgement."),
    enabled: z.boolean().optional().describe("false: keep the entry, but don't use it."),
  };
}

/** An entry of `mcp.servers`. Documented in docs/mcp.md. */
export const serverEntrySchema = named(z.strictObject(fieldsWith(z.strictObject(oauthFields))), "server");

/** An entry of a JSON file, which has keys for other programs too. */
export const otherServerEntrySchema = z.object(fieldsWith(z.object(oauthFields)));

export const serversSchema = z.strictObject({
  servers: z
    .record(named(z.string(), "serverName"), serverEntrySchema)
    .optional()
    .describe("MCP servers by name; see docs/mcp.md."),
  wait: named(z.union([z.string(), z.number()]), "duration")
    .optional()
    .describe("How long a turn waits for servers that are connecting. Default: 10s."),
});
