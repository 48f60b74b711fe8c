/**
 * The browser's part: follows redirects, logs in and consents on the pages of `oidc-provider`. Returns the first address on
 * another origin, without opening it. `declines`: the user presses "Cancel" instead.
 */
export async function browse(start: string, { declines = false } = {}): Promise<string> {
  const { origin } = new URL(start);
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const response = await fetch(url, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const page = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      form = undefined;
      url = new URL(location, url).href;
      if (new URL(url).origin !== origin) return url;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`${response.status} ${url}: ${page}`);
    if (declines) {
      url = `${url}/abort`;
      continue;
    }
    form = new URLSearchParams(prompt === "login" ? { prompt, login: "ann", password: "any" } : { prompt });
  }
  throw new Error("The pages lead nowhere.");
}
