import { withoutTrailingSlashes } from "../core/trailing.ts";
import type { Wire } from "./model-spec.ts";

export interface Address {
  readonly baseUrl: string;
  /** Without its question mark. */
  readonly query?: string;
}

/** What is put behind the address of a wire with every request; people copy it along with the address. */
const endpoints: Readonly<Record<Wire, string>> = {
  anthropic: "/messages",
  "openai-responses": "/responses",
  "openai-chat": "/chat/completions",
  google: "",
};

/** These two are mostly written without the version of their interface, as their own libraries want it. */
const versions: Partial<Readonly<Record<Wire, string>>> = { anthropic: "/v1", google: "/v1beta" };

/** Where a wire's requests go; or what is wrong with the address, without quoting it: there may be a password in it. */
export function readAddress(given: string, wire: Wire): Address | string {
  const text = given.trim();
  if (!/^https?:\/\/[^/]/i.test(text)) return "must begin with http:// or https://";
  if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) return "is not an address";
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") {
    return "has a user or a password in it, which are never sent: use apiKey or headers";
  }
  if (text.includes("#")) return "has a part behind #, which is never sent: leave it out";
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
