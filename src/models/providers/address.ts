import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import type { Wire } from "./model-spec.ts";

export interface Address {
  readonly baseUrl: string;
  /** Without the question mark. */
  readonly query?: string;
}

/** Path that each request appends. Users often copy it along with the base address. */
const endpoints: Readonly<Record<Wire, string>> = {
  anthropic: "/messages",
  "openai-responses": "/responses",
  "openai-chat": "/chat/completions",
  google: "",
};

/** These base addresses are usually written without an API version, as the providers' own libraries expect. */
const versions: Partial<Readonly<Record<Wire, string>>> = { anthropic: "/v1", google: "/v1beta" };

/** The normalized address, or its fault. The fault never quotes the address, which can hold a password. */
export function readAddress(given: string, wire: Wire): Address | string {
  const text = given.trim();
  if (!/^https?:\/\/[^/]/i.test(text)) return "must start with http:// or https://";
  if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) return "is not a valid URL";
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") {
    return "must not contain a user or password: use apiKey or headers";
  }
  if (text.includes("#")) return "must not contain a # fragment";
  const [path = "", ...rest] = text.split("?");
  const query = rest.join("?");
  return { baseUrl: versioned(shortened(path, endpoints[wire]), wire), ...(query === "" ? {} : { query }) };
}

function shortened(path: string, endpoint: string): string {
  const bare = withoutTrailingSlashes(path);
  return endpoint !== "" && bare.endsWith(endpoint) ? withoutTrailingSlashes(bare.slice(0, -endpoint.length)) : bare;
}

function versioned(baseUrl: string, wire: Wire): string {
  const version = versions[wire];
  return version === undefined || /\/v\d[^/]*$/.test(baseUrl) ? baseUrl : `${baseUrl}${version}`;
}
