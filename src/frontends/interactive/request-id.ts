/** The id of a request, as the JSON that it is sent back as. */
export type RequestId = string;

export const noId: RequestId = "null";

/**
 * As the client wrote it. A number that JavaScript cannot hold would come back as another one, and the client would wait for
 * its answer for ever: such a one is taken from the text of the request.
 */
export function idIn(id: unknown, request: string): RequestId {
  const isOdd = typeof id === "number" && (!Number.isSafeInteger(id) || Object.is(id, -0));
  if (isOdd) return numberAt(request) ?? JSON.stringify(id);
  return id === undefined ? noId : JSON.stringify(id);
}

const idMember = /"id"\s*:\s*(-?\d[\d.eE+-]*)/y;

/** Of the member `id` of the outermost object; the last one, when there are several, as for `JSON.parse`. */
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

/** Where the quotes close that open here. */
function endOfText(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at;
}
