import type { Notice, Received } from "../fakes/rpc/wire.ts";
import { noticesIn } from "../fakes/rpc/wire.ts";

/** How far a server has come, as seen by a client. */
export interface Marks {
  readonly responses: number;
  readonly idles: number;
  /** Ids of requests that got an error. */
  readonly refused: ReadonlySet<string>;
  /** Ids of prompts that joined the conversation. */
  readonly taken: ReadonlySet<string>;
  /** Requests of the server in the current turn. */
  readonly asked: readonly string[];
  /** Deltas of the current message, 0 without one. */
  readonly pieces: number;
  /** A call of the last reply is running. */
  readonly isWorking: boolean;
  /** The last reply's tokens have been reported. */
  readonly isUsageTold: boolean;
  /** The running command has printed something. */
  readonly hasPrinted: boolean;
  /** The prompt of the current turn. */
  readonly prompt: string;
}

export interface MarkReader {
  read(message: Received): void;
  marks(): Marks;
}

/**
 * Reads one server's lines. `ownAnswers`: the number of responses that a request id can get; further ones are not
 * counted.
 */
export function createMarkReader(ownAnswers: (id: string) => number = () => Number.POSITIVE_INFINITY): MarkReader {
  const answers = new Map<string, number>();
  const refused = new Set<string>();
  const taken = new Set<string>();
  let asked: readonly string[] = [];
  let [responses, idles, pieces] = [0, 0, 0];
  let [isWorking, isUsageTold, hasPrinted] = [false, false, false];
  let prompt = "";

  const readResponse = ({ id, error }: Received): void => {
    if (typeof id !== "string") {
      responses += 1;
      return;
    }
    const count = (answers.get(id) ?? 0) + 1;
    answers.set(id, count);
    if (count <= ownAnswers(id)) responses += 1;
    if (error !== undefined) refused.add(id);
  };

  const readNotice = (notice: Notice): void => {
    switch (notice.type) {
      case "assistant_text_delta":
        pieces += 1;
        break;
      case "create_message": {
        const { role, content } = notice.message as { role: string; content: readonly { text?: string }[] };
        [pieces, isUsageTold] = [0, false];
        if (role === "user") prompt = content.at(-1)?.text ?? "";
        if (typeof notice.requestId === "string") taken.add(notice.requestId);
        break;
      }
      case "session_token_usage_changed":
        isUsageTold = true;
        break;
      case "tool_progress_update":
        isWorking = true;
        hasPrinted ||= (notice.update as { text: string }).text !== "";
        break;
      case "tool_result":
        [isWorking, hasPrinted] = [false, false];
        break;
      case "droid_working_state_changed":
        [isWorking, hasPrinted] = [notice.newState === "executing_tool", false];
        if (notice.newState === "idle") [idles, pieces, asked] = [idles + 1, 0, []];
        break;
    }
  };

  return {
    read: (message) => {
      if (message.type === "response") readResponse(message);
      if (message.type === "request") asked = [...asked, String(message.id)];
      for (const notice of noticesIn([message])) readNotice(notice);
    },
    marks: () => ({
      responses,
      idles,
      refused: new Set(refused),
      taken: new Set(taken),
      asked,
      pieces,
      isWorking,
      isUsageTold,
      hasPrinted,
      prompt,
    }),
  };
}
