import { z } from "zod";
import { autonomyLevels } from "../../engine/settings.ts";
import { rpcClients, toolExecutions, userRoles } from "../serve/serve-words.ts";
import { named } from "./named-check.ts";

const duration = named(z.union([z.string(), z.number()]), "duration");
const count = z.number().int().positive();

const user = z.strictObject({
  name: named(z.string(), "userName").describe("Whose sessions they are."),
  role: z
    .enum(userRoles)
    .describe("admin: everything. user: their own sessions. viewer: watches, and changes nothing."),
  tokens: z.array(named(z.string(), "tokenHash")).describe("Hashes of the tokens, as tinman serve token prints them."),
  folders: z
    .array(named(z.string(), "folder"))
    .min(1)
    .optional()
    .describe("This user's sessions work in these folders and below. Default: anywhere. Role user only."),
  autonomy: z
    .enum(autonomyLevels)
    .optional()
    .describe("The highest level of this user's sessions. Default: any. Role user only."),
  models: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("The models this user's sessions can use. Default: all. Role user only."),
});

/** `serve` of `config.yaml`. Documented in docs/configuration.md, as are the defaults. */
export const serveSchema = z.strictObject({
  hosts: z
    .array(named(z.string(), "host"))
    .optional()
    .describe("Names by which the server may be asked, besides those of loopback and the address it is bound to."),
  origins: z
    .array(named(z.string(), "origin"))
    .optional()
    .describe("Origins of pages that may ask, besides the server's own."),
  users: named(z.array(user), "users")
    .optional()
    .describe("Who may come in besides the owner of this machine's own token."),
  rpc: z
    .enum(rpcClients)
    .optional()
    .describe("Who may open /rpc, which is as good as a shell of the server's account."),
  limits: z
    .strictObject({
      connections: count.optional().describe("WebSocket connections at a time."),
      connectionsPerUser: count.optional().describe("WebSocket connections of one user at a time."),
      payloadBytes: count
        .optional()
        .describe("Bytes of one message that comes in; more closes the connection with 1009."),
      unsentBytes: count
        .optional()
        .describe(
          "Bytes that may wait for a client behind the message that is being sent, however large that is; more cuts it off.",
        ),
    })
    .optional(),
  timeouts: z
    .strictObject({
      ping: duration.optional().describe("How often a client must show that it is there."),
      stalled: duration.optional().describe("How long a client that is behind may take nothing at all."),
      drain: duration.optional().describe("How long running turns may go on when the server is to stop."),
    })
    .optional(),
});

/** `interactive` of `config.yaml`. */
export const interactiveSchema = z.strictObject({
  toolExecution: z.enum(toolExecutions).optional().describe("Who runs the tools of sessions."),
  toolExecutionChoices: z
    .array(z.enum(toolExecutions))
    .optional()
    .describe("What a client may choose for its session besides the one above."),
  autonomy: z.enum(autonomyLevels).optional().describe("What runs unasked where the server runs the tools."),
  timeouts: z
    .strictObject({
      ai: duration
        .optional()
        .describe(
          "How long a model may be silent. Unless given: 10s for the offline and scripted models, and a provider's model has timeouts of its own.",
        ),
      toolResult: duration.optional().describe("How long a client may take for a tool call."),
      idleSession: duration.optional().describe("How long a session without a client is kept open."),
    })
    .optional(),
  limits: z
    .strictObject({
      queuedMessages: count.optional().describe("Messages that may wait in a session."),
      openSessions: count.optional().describe("Sessions that a user may have open at a time."),
      sessionsPerMinute: count.optional().describe("Sessions that a user may start in a minute."),
      messagesPerMinute: count.optional().describe("Messages that a user may send in a minute."),
    })
    .optional(),
});
