import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../text/values.ts";
import type { CallOptions, McpAccess, McpServer, SignInAnswer } from "./api.ts";
import { callOptions, checkMcpServer, checkName, checkSignInAnswer } from "./check-options.ts";
import type { McpServerState, McpTool, TurnEvent } from "./types.ts";
import { given } from "./wire.ts";

type Request = (method: string, params: object, options: CallOptions) => Promise<Fields>;

export function createMcp(request: Request): McpAccess {
  type Name = keyof McpAccess;
  const call = (name: Name, method: string, params: object, options: CallOptions | undefined): Promise<Fields> =>
    request(`droid.${method}`, params, callOptions(`mcp.${name}`, options));
  const about =
    (name: Name, method: string, more: object = {}) =>
    async (serverName: string, options?: CallOptions): Promise<void> => {
      checkName("server", serverName);
      await call(name, method, { serverName, ...more }, options);
    };
  const switchTool =
    (name: Name, enabled: boolean) =>
    async (serverName: string, toolName: string, options?: CallOptions): Promise<void> => {
      checkName("server", serverName);
      checkName("tool", toolName);
      await call(name, "toggle_mcp_tool", { serverName, toolName, enabled }, options);
    };
  const settingsLevel = "user";
  return {
    servers: async (options) => serversOf((await call("servers", "list_mcp_servers", {}, options)).servers),
    tools: async (options) => toolsOf((await call("tools", "list_mcp_tools", {}, options)).tools),
    async add(server: McpServer, options) {
      checkMcpServer(server);
      await call("add", "add_mcp_server", server, options);
    },
    remove: about("remove", "remove_mcp_server", { settingsLevel }),
    enable: about("enable", "toggle_mcp_server", { enabled: true, settingsLevel }),
    disable: about("disable", "toggle_mcp_server", { enabled: false, settingsLevel }),
    enableTool: switchTool("enableTool", true),
    disableTool: switchTool("disableTool", false),
    async signIn(serverName, options) {
      checkName("server", serverName);
      return (await call("signIn", "authenticate_mcp_server", { serverName }, options)).success === true;
    },
    async answerSignIn(serverName, answer: SignInAnswer, options) {
      checkName("server", serverName);
      checkSignInAnswer(answer);
      const method = "code" in answer ? "submit_mcp_auth_code" : "submit_mcp_auth_error";
      return (await call("answerSignIn", method, { serverName, ...answer }, options)).success === true;
    },
    cancelSignIn: about("cancelSignIn", "cancel_mcp_auth"),
    signOut: about("signOut", "clear_mcp_auth"),
  };
}

export function serversOf(value: unknown): readonly McpServerState[] {
  return listOf(value).flatMap((each) => {
    const server = fieldsOf(each);
    const name = textOf(server.name);
    if (name === undefined) return [];
    const { pendingAuthUrl, pendingAuthMessage, pendingAuthState, hasAuthTokens } = server;
    const url = textOf(pendingAuthUrl);
    return given<McpServerState>({
      name,
      type: textOf(server.serverType) ?? "stdio",
      source: textOf(server.source) ?? "user",
      status: textOf(server.status) ?? "disconnected",
      error: textOf(server.error),
      toolCount: numberOf(server.toolCount),
      promptCount: numberOf(server.promptCount),
      isSignedIn: typeof hasAuthTokens === "boolean" ? hasAuthTokens : undefined,
      needsSignIn: server.requiresAuth === true ? true : undefined,
      signIn:
        url === undefined
          ? undefined
          : { url, message: textOf(pendingAuthMessage) ?? "", state: textOf(pendingAuthState) ?? "" },
    });
  });
}

function toolsOf(value: unknown): readonly McpTool[] {
  return listOf(value).flatMap((each) => {
    const { serverName, name, description, isEnabled, isReadOnly, inputSchema } = fieldsOf(each);
    if (typeof serverName !== "string" || typeof name !== "string") return [];
    return given<McpTool>({
      server: serverName,
      name,
      description: textOf(description) ?? "",
      isEnabled: isEnabled === true,
      isReadOnly: typeof isReadOnly === "boolean" ? isReadOnly : undefined,
      inputSchema,
    });
  });
}

/** `undefined` if there is no address to sign in at. */
export function signInOf({ serverName, authUrl, message, state }: Fields): TurnEvent | undefined {
  const [server, url] = [textOf(serverName), textOf(authUrl)];
  if (server === undefined || url === undefined) return undefined;
  return given<TurnEvent & { type: "sign_in_required" }>({
    type: "sign_in_required",
    server,
    url,
    message: textOf(message) ?? "",
    state: textOf(state),
  });
}

export function signInEndOf({ serverName, outcome, message }: Fields): TurnEvent | undefined {
  const [server, word] = [textOf(serverName), textOf(outcome)];
  if (server === undefined || word === undefined) return undefined;
  return { type: "sign_in_ended", server, outcome: word, message: textOf(message) ?? "" };
}
