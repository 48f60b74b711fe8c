import { z } from "zod";
import { durationMs, durationRule } from "../core/duration.ts";
import { autonomyLevels } from "../core/settings.ts";
import {
  folderFault,
  hostFault,
  isTokenHash,
  originFault,
  rpcClients,
  toolExecutions,
  userNameFault,
  userRoles,
} from "./serve-words.ts";

/** As it was written: what is kept of a configuration is what stands in it. */
const duration = z.union([z.string(), z.number()]).superRefine((value, context) => {
  if (durationMs(value) === undefined) context.addIssue({ code: "custom", message: lowerFirst(durationRule) });
});

const count = z.number().int().positive();

/** Text of which `fault` has nothing to say. */
function text(fault: (value: string) => string | undefined) {
  return z.string().superRefine((value, context) => {
    const message = fault(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

// What is wrong with a hash is not quoted: it may be the token itself.
const tokenHash = text((value) =>
  isTokenHash(value) ? undefined : "must be sha256: and 64 digits, as `tinman serve token` prints it",
);

const user = z.strictObject({
  name: text(userNameFault).describe("Whose sessions they are."),
  role: z
    .enum(userRoles, {
      error: ({ input }) =>
        input === undefined ? "is missing" : `${JSON.stringify(input)} is no role: ${userRoles.join(", ")}`,
    })
    .describe("admin: everything. user: their own sessions. viewer: watches, and changes nothing."),
  tokens: z.array(tokenHash).describe("Hashes of the tokens, as tinman serve token prints them."),
  folders: z
    .array(text(folderFault))
    .min(1)
    .optional()
    .describe("Folders in which, and below which, this user's sessions can work. Any, unless given. Role user only."),
  autonomy: z
    .enum(autonomyLevels)
    .optional()
    .describe("The highest level of this user's sessions. Any, unless given. Role user only."),
  models: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("The only models that this user's sessions can use. Any, unless given. Role user only."),
});

const ceilings = ["folders", "autonomy", "models"] as const;

/** Two users of one name would share their sessions, and a token of two would be either's. */
const users = z.array(user).superRefine((list, context) => {
  const names = new Set<string>();
  const hashes = new Set<string>();
  list.forEach(({ name, tokens, ...one }, at) => {
    for (const key of ceilings.filter((each) => one.role !== "user" && one[each] !== undefined)) {
      const message = `is for the role user, and "${name}" has ${one.role}: remove it`;
      context.addIssue({ code: "custom", path: [at, key], message });
    }
    if (names.has(name)) context.addIssue({ code: "custom", path: [at, "name"], message: `"${name}" is there twice` });
    names.add(name);
    tokens.forEach((hash, of) => {
      if (hashes.has(hash))
        context.addIssue({
          code: "custom",
          path: [at, "tokens", of],
          message: "is there twice: each token has one user",
        });
      hashes.add(hash);
    });
  });
});

/** `serve` of `config.yaml`. Documented in docs/configuration.md, as are the defaults. */
export const serveSchema = z.strictObject({
  hosts: z
    .array(text(hostFault))
    .optional()
    .describe("Names by which the server may be asked, besides those of loopback and the address it is bound to."),
  origins: z.array(text(originFault)).optional().describe("Origins of pages that may ask, besides the server's own."),
  users: users.optional().describe("Who may come in besides the owner of this machine's own token."),
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

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
