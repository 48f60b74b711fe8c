import { accessSync, constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { chromium, type Page } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export const noBrowser = `no browser found: install the package chromium, or put one of these on the PATH: ${names.join(", ")}`;

export function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A page that only runs a script. */
export interface OpenedPage {
  readonly page: Page;
  /** Complaints and output of the page, or of the browser about it. */
  readonly said: string[];
  close(): Promise<void>;
}

/** An unresolvable name. Its page is not secure to a browser, even over loopback. */
const host = "page.test";

const policy = "default-src 'none'; script-src 'self'; connect-src ws://127.0.0.1:*";

/** Opens a page with this script; its globals `given` are functions of the test. `folder` is the browser's profile. */
export async function openPage(
  executablePath: string,
  {
    folder,
    script,
    given,
  }: { folder: string; script: string; given: Readonly<Record<string, (text: string) => void>> },
): Promise<OpenedPage> {
  const temp = join(folder, "temp");
  await mkdir(temp, { recursive: true });
  const server = createServer(({ url }, response) => {
    const found = url === "/" ? ["text/html", html] : url === "/page.js" ? ["text/javascript", script] : undefined;
    const [type = "text/plain", body = ""] = found ?? [];
    response.writeHead(found === undefined ? 404 : 200, {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": policy,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const closeServer = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  const context = await chromium
    .launchPersistentContext(join(folder, "profile"), {
      executablePath,
      artifactsDir: join(folder, "artifacts"),
      env: { PATH: process.env.PATH, HOME: folder, TMPDIR: temp },
      chromiumSandbox: process.getuid?.() !== 0,
      args: [`--host-resolver-rules=MAP ${host} 127.0.0.1`, "--no-proxy-server"],
    })
    .catch(async (error: unknown) => {
      await closeServer();
      throw error;
    });
  const close = async (): Promise<void> => {
    await context.close();
    await closeServer();
  };
  try {
    const [page = await context.newPage()] = context.pages();
    const said: string[] = [];
    page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => said.push(String(error)));
    page.on("crash", () => said.push("crashed"));
    for (const [name, act] of Object.entries(given)) await page.exposeFunction(name, act);
    await page.goto(`http://${host}:${(server.address() as AddressInfo).port}/`);
    return { page, said, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const html = `<!doctype html><title>A page</title><script type="module" src="/page.js"></script>`;
