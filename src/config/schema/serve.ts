import { z } from "zod";
import { autonomyLevels } from "../../engine/settings.ts";
import { rpcClients, toolExecutions, userRoles } from "../serve/serve-words.ts";
import { named } from "./named-check.ts";

const duration = named(z.union([z.string(), z.number()]), "duration");
const count = z.number().int().positive();

const user = z.strictObject({
  name: named(z.string(), "userName").describe("The user's name."),
  role: z
    .enum(userRoles)
    .describe("admin: everything. user: their own sessions. viewer: watches, and changes nothing."),
  tokens: z.array(named(z.string(), "tokenHash")).describe("Token hashes, as printed by tinman serve token."),
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
    .describe("Allowed Host names, besides loopback and the bound address."),
  origins: z
    .array(named(z.string(), "origin"))
    .optional()
    .describe("Allowed origins of pages, besides the server's own."),
  users: named(z.array(user), "users").optional().describe("Users besides the owner of this machine's token."),
  rpc: z
    .enum(rpcClients)
    .optional()
    .describe("Who can open /rpc, which is equivalent to a shell on the server's account."),
  limits: z
    .strictObject({
      connections: count.optional().describe("Maximum WebSocket connections."),
      connectionsPerUser: count.optional().describe("Maximum WebSocket connections per user."),
      payloadBytes: count
        .optional()
        .describe("Maximum bytes of a received message; more closes the connection with 1009."),
      unsentBytes: count
        .optional()
        .describe("Maximum bytes queued for a client behind the message being sent; more disconnects it."),
    })
    .optional(),
  timeouts: z
    .strictObject({
      ping: duration.optional().describe("Interval of pings that clients must answer."),
      stalled: duration
        .optional()
        .describe("How long a client that is behind can read nothing before it is disconnected."),
      drain: duration.optional().describe("How long running turns can continue when the server stops."),
    })
    .optional(),
});

/** `interactive` of `config.yaml`. */
export const interactiveSchema = z.strictObject({
  toolExecution: z.enum(toolExecutions).optional().describe("Who runs tools."),
  toolExecutionChoices: z.array(z.enum(toolExecutions)).optional().describe("Alternatives that clients can choose."),
  autonomy: z.enum(autonomyLevels).optional().describe("What runs without asking when the server runs the tools."),
  timeouts: z
    .strictObject({
      ai: duration
        .optional()
        .describe(
          "How long a model can be silent. Default: 10s for offline and scripted models, the provider's timeouts for others.",
        ),
      toolResult: duration.optional().describe("Time limit for a client's tool call."),
      idleSession: duration.optional().describe("How long a session without a client stays open."),
    })
    .optional(),
  limits: z
    .strictObject({
      queuedMessages: count.optional().describe("Maximum waiting messages per session."),
      openSessions: count.optional().describe("Maximum open sessions per user."),
      sessionsPerMinute: count.optional().describe("Maximum sessions started per user and minute."),
      messagesPerMinute: count.optional().describe("Maximum messages per user and minute."),
    })
    .optional(),
});
