import { type Fields, isRecord } from "../../text/values.ts";
/** Fields of compatible servers' chunks that the SDK ignores. */

export interface ChatExtras {
  /** A refusal's text, sent apart from the content. */
  readonly refusal?: string;
  /** OpenRouter's thinking with signatures. Must be sent back unchanged. */
  readonly reasoning_details?: readonly Detail[];
}

type Detail = Fields;

/** Reads the chunks of one answer. */
export class ChatExtrasReader {
  private refusal = "";
  private readonly details: Record<string, unknown>[] = [];

  read(chunk: unknown): void {
    const delta = deltaOf(chunk);
    if (delta === undefined) return;
    if (typeof delta.refusal === "string") this.refusal += delta.refusal;
    if (!Array.isArray(delta.reasoning_details)) return;
    for (const detail of delta.reasoning_details) if (isRecord(detail)) this.add(detail);
  }

  extras(): ChatExtras {
    return {
      ...(this.refusal === "" ? {} : { refusal: this.refusal }),
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
    };
  }

  /** Details arrive in pieces: texts are appended, other fields are set once. */
  private add(piece: Detail): void {
    const open = this.details.findLast(({ type, index }) => type === piece.type && index === piece.index);
    if (open === undefined) {
      this.details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      const isGrowing = key === "text" || key === "summary" || key === "data";
      if (isGrowing && typeof value === "string" && typeof open[key] === "string") open[key] += value;
      else if (value !== null && value !== undefined) open[key] = value;
    }
  }
}

function deltaOf(chunk: unknown): Detail | undefined {
  if (!isRecord(chunk) || !Array.isArray(chunk.choices)) return undefined;
  const choice: unknown = chunk.choices[0];
  return isRecord(choice) && isRecord(choice.delta) ? choice.delta : undefined;
}
