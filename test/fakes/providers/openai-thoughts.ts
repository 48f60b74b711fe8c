import { createHmac } from "node:crypto";
import { z } from "zod";

/** The message or call that came right after a reasoning item. */
const follower = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("message"), id: z.string() }),
  z.strictObject({ type: z.literal("function_call"), callId: z.string() }),
]);
/** Without a follower, the answer ended with the reasoning. */
const thoughts = z.strictObject({ id: z.string(), follower: follower.optional() });

export type Follower = z.infer<typeof follower>;
export type Thoughts = z.infer<typeof thoughts>;

/**
 * Makes and reads `encrypted_content`. Everything that the service has to know about a reasoning item is in it, so servers
 * with the same secret read each other's, and a conversation may go on at another one.
 */
export interface ThoughtBox {
  close(thoughts: Thoughts): string;
  /** Undefined where it was not made with this secret, or was changed. */
  open(encrypted: string): Thoughts | undefined;
}

const start = "gAAAAAB";

export function createThoughtBox(secret: string): ThoughtBox {
  const signed = (payload: string) => {
    const mark = createHmac("sha256", secret).update(payload).digest();
    return `${start}${Buffer.concat([mark, Buffer.from(payload)]).toString("base64url")}==`;
  };
  return {
    close: (content) => signed(JSON.stringify(content)),
    open: (encrypted) => {
      if (!encrypted.startsWith(start)) return undefined;
      const payload = Buffer.from(encrypted.slice(start.length), "base64url").subarray(32).toString("utf8");
      return signed(payload) === encrypted ? thoughts.parse(JSON.parse(payload)) : undefined;
    },
  };
}
