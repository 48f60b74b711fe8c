import { createInterface } from "node:readline";
import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { AgentError } from "../../engine/errors.ts";
import type { ServerEventBody } from "../../engine/servers/server-state.ts";
import type { ToolServers } from "../../engine/servers/tool-servers.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import { type Io, onStop } from "../../frontends/front-end.ts";
import { statusText } from "./server-words.ts";
import { serversHere } from "./servers-here.ts";
import { usableServer } from "./usable-server.ts";

/** Longer than a sign-in. */
const keepAliveMs = 3_600_000;

/** `tinman mcp login`: signs in to a server, and connects to it. */
export async function signInToServer(name: string, io: Io): Promise<number> {
  const { entry } = await usableServer(name, await serversHere());
  if (entry.kind === "stdio") throw new AgentError("usage", `${name} is started by a command, so it has no sign-in.`);
  if (entry.oauth === false) throw new AgentError("usage", `${name} has "oauth": false, so it has no sign-in.`);
  let [message, ask]: [string, () => Promise<void>] = ["", async () => undefined];
  const tell = (event: ServerEventBody): void => {
    if (event.type === "sign-in.ended") ({ message } = event);
    if (event.type !== "sign-in.required") return;
    const steps = `Open this address in a browser to sign in to ${name}:\n  ${printable(event.url)}\n`;
    io.stdout
      .write(steps)
      .then(() => ask())
      .catch(() => undefined);
  };
  const servers = (await compose()).openServers(name, tell);
  // Waiting for the browser does not keep the process alive.
  const alive = setInterval(() => undefined, keepAliveMs);
  const stopping = new AbortController();
  const stopListening = onStop(io, () => {
    stopping.abort();
    servers.cancelSignIn(name).catch(() => undefined);
  });
  ask = () => takePasted(servers, name, io, stopping.signal);
  try {
    // What the server answers says where to sign in.
    await servers.settled(stopping.signal);
    const state = servers.states().find((each) => each.name === name);
    if (!stopping.signal.aborted && state?.needsSignIn !== true) {
      await io.stdout.write(`${name}: ${printable(statusText(state))}. It asks for no sign-in.\n`);
      return state?.status === "connected" ? exitCodes.success : exitCodes.failed;
    }
    const outcome = stopping.signal.aborted ? "cancelled" : await servers.signIn(name);
    if (stopping.signal.aborted) throw new AgentError("interrupted", "The sign-in was cancelled.");
    await io.stdout.write(`${printable(message)}\n`);
    return outcome === "success" ? exitCodes.success : exitCodes.failed;
  } finally {
    stopping.abort();
    clearInterval(alive);
    stopListening();
    await servers.close();
  }
}

/** For a browser on another machine, which cannot reach the address on this one. */
async function takePasted(servers: ToolServers, name: string, io: Io, signal: AbortSignal): Promise<void> {
  if (process.stdin.isTTY !== true || signal.aborted) return;
  await io.stdout.write("If the browser is on another machine, paste the address on which it ends:\n");
  const terminal = createInterface({ input: process.stdin });
  signal.addEventListener("abort", () => terminal.close(), { once: true });
  for await (const line of terminal) {
    const query = URL.canParse(line.trim()) ? new URL(line.trim()).searchParams : undefined;
    const [code, state] = [query?.get("code"), query?.get("state")];
    const isTaken = code && state ? await servers.finishSignIn(name, state, { code }) : false;
    if (isTaken) return;
    await io.stdout.write("This is not the address of the sign-in.\n");
  }
}

/** `tinman mcp logout`. Works for servers that are not used any more. */
export async function signOutOfServer(name: string, io: Io): Promise<number> {
  const hadTokens = await (await compose()).signOut(name);
  await io.stdout.write(hadTokens ? `Signed out of ${name}.\n` : `You are not signed in to ${name}.\n`);
  return exitCodes.success;
}
