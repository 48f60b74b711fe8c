/** A request's id as JSON, ready to be sent back. */
export type RequestId = string;

export const noId: RequestId = "null";

/**
 * The id exactly as the client wrote it. A number that JavaScript cannot represent would come back changed, so it is taken
 * from the text of the request.
 */
export function idIn(id: unknown, request: string): RequestId {
  const isOdd = typeof id === "number" && (!Number.isSafeInteger(id) || Object.is(id, -0));
  if (isOdd) return numberAt(request) ?? JSON.stringify(id);
  return id === undefined ? noId : JSON.stringify(id);
}

const idMember = /"id"\s*:\s*(-?\d[\d.eE+-]*)/y;

/** The member `id` of the outermost object; the last of several, like `JSON.parse`. */
function numberAt(json: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    else if (character === '"') {
      idMember.lastIndex = at;
      if (depth === 1) found = idMember.exec(json)?.[1] ?? found;
      at = endOfText(json, at);
    }
  }
  return found;
}

function endOfText(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at;
}
