import { createPace } from "../../async/pace.ts";
import { headAndTail, jsonBytes } from "../../text/output.ts";
import type { Interaction } from "../interaction.ts";
import type { FileChange, Preview } from "../permission.ts";

type ShownCall = Extract<Interaction, { kind: "permission" }>["calls"][number];

/** Limits for all previews and all inputs of a request, which must fit into one log record. */
const mostPreviewBytes = 4 * 1024 * 1024;
const mostInputBytes = 8 * 1024 * 1024;
const longestCutBytes = 64 * 1024;
const cut = (skipped: number): string => `[... ${skipped} characters are not shown ...]`;

/** The calls with their previews, shortened in order once the limit is reached. */
export async function withinRequest(calls: readonly ShownCall[]): Promise<readonly ShownCall[]> {
  const pace = createPace();
  const within: ShownCall[] = [];
  let left = mostPreviewBytes;
  for (const shown of calls) {
    if (shown.preview === undefined) {
      within.push(shown);
      continue;
    }
    const size = sizeUpTo(left, shown.preview);
    const preview = size <= left ? shown.preview : shortened(shown.preview);
    left = Math.max(0, left - (preview === shown.preview ? size : sizeUpTo(left, preview)));
    within.push({ ...shown, preview });
    await pace.rest();
  }
  return within;
}

/** The size in a record, or more than `most`. Previews can be long, and measuring their text would take long. */
function sizeUpTo(most: number, preview: Preview): number {
  const json = JSON.stringify(preview);
  return json.length > most ? json.length : jsonBytes(json);
}

/** Returns whether each further input still fits into the request. */
export function createInputBudget(): (input: unknown) => boolean {
  let left = mostInputBytes;
  return (input) => {
    left -= jsonSize(input);
    return left >= 0;
  };
}

/** At least its JSON size in a record. */
function jsonSize(value: unknown): number {
  return jsonBytes(JSON.stringify(value) ?? "");
}

function shortened(preview: Preview): Preview {
  const short = (text: string): string => headAndTail(text, longestCutBytes, cut);
  switch (preview.type) {
    case "create":
      return { type: "create", path: preview.path, content: short(preview.content) };
    case "edit":
      return { type: "edit", path: preview.path };
    case "patch":
      return { type: "patch", patch: short(preview.patch), files: preview.files.map(withoutContents) };
    default:
      return preview;
  }
}

function withoutContents({ oldContent: _, newContent: __, ...file }: FileChange): FileChange {
  return file;
}
