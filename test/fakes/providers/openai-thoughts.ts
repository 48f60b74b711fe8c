import { createHmac } from "node:crypto";
import { z } from "zod";

/** The message or call right after a reasoning item. */
const follower = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("message"), id: z.string() }),
  z.strictObject({ type: z.literal("function_call"), callId: z.string() }),
]);
/** Without a follower, the answer ended with the reasoning. */
const thoughts = z.strictObject({ id: z.string(), follower: follower.optional() });

export type Follower = z.infer<typeof follower>;
export type Thoughts = z.infer<typeof thoughts>;

/**
 * Creates and reads `encrypted_content`. It contains everything about a reasoning item, so servers with the same secret
 * can continue each other's conversations.
 */
export interface ThoughtBox {
  close(thoughts: Thoughts): string;
  /** Undefined if it was made with another secret, or changed. */
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
