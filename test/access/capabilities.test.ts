import { describe, expect, test } from "vitest";
import { type Capability, can } from "../../src/access/capability.ts";
import { type Role, roles } from "../../src/access/identity.ts";
import { needs as needsOfWs } from "../../src/frontends/interactive/methods.ts";
import { needsOf } from "../../src/frontends/stream-jsonrpc/methods/needs.ts";
import { type ClientMethod, clientParams } from "../../src/protocol/droid/params.ts";
import { type InteractiveMethod, interactiveParams } from "../../src/protocol/interactive.ts";
import { admin, ann, openServer, wires } from "./server.ts";

const capabilities: Readonly<Record<Capability, string>> = {
  read: "admin user viewer",
  use: "admin user",
  create: "admin user",
  configure: "admin user",
  metrics: "admin viewer",
  host: "admin",
};

test.each(Object.entries(capabilities))("%s is for: %s", (capability, holders) => {
  expect(roles.filter((role) => can({ role }, capability as Capability)).join(" ")).toBe(holders);
});

test("an unknown role can do nothing", () => {
  const role = "root" as Role;
  expect(Object.keys(capabilities).filter((each) => can({ role }, each as Capability))).toEqual([]);
});

describe("the methods that each role can call", () => {
  const ofWs = (role: Role): string[] =>
    (Object.keys(interactiveParams) as InteractiveMethod[]).filter((method) => can({ role }, needsOfWs[method]));
  const allowsRpc = (role: Role, method: ClientMethod, params: object): boolean =>
    needsOf(method, params).every(({ capability }) => can({ role }, capability));
  const rpcMethods = Object.keys(clientParams) as ClientMethod[];
  const ofRpc = (role: Role): string[] => rpcMethods.filter((method) => allowsRpc(role, method, {}));

  test("admin: everything; user: what concerns own sessions", () => {
    for (const role of ["admin", "user"] as const) expect(ofWs(role)).toEqual(Object.keys(interactiveParams));
    expect(ofRpc("admin")).toEqual(rpcMethods);
    expect(rpcMethods.filter((method) => !ofRpc("user").includes(method)).sort()).toEqual([
      "droid.add_mcp_server",
      "droid.authenticate_mcp_server",
      "droid.cancel_mcp_auth",
      "droid.clear_mcp_auth",
      "droid.remove_mcp_server",
      "droid.submit_mcp_auth_code",
      "droid.submit_mcp_auth_error",
      "droid.toggle_mcp_server",
      "droid.toggle_mcp_tool",
    ]);
  });

  test("viewer: only reading methods", () => {
    expect(ofWs("viewer").sort()).toEqual(["capabilities", "echo", "listSessions", "resumeSession"]);
    expect(ofRpc("viewer").sort()).toEqual([
      "droid.close_session",
      "droid.get_context_breakdown",
      "droid.get_context_stats",
      "droid.list_commands",
      "droid.list_mcp_registry",
      "droid.list_mcp_servers",
      "droid.list_mcp_tools",
      "droid.list_models",
      "droid.list_skills",
      "droid.list_tools",
      "droid.load_session",
    ]);
  });

  const url = { name: "a", type: "http", url: "https://example.org" };
  test.each([
    ["droid.initialize_session", { skipPermissionsUnsafe: true }, "admin"],
    ["droid.initialize_session", { skipPermissionsUnsafe: false }, "admin user"],
    ["droid.initialize_session", { mcpServers: [] }, "admin user"],
    ["droid.initialize_session", { mcpServers: [url] }, "admin"],
    ["droid.initialize_session", { mcpServers: [url, { name: "b", command: "rm" }] }, "admin"],
    ["droid.load_session", { mcpServers: [{ name: "b" }] }, "admin"],
    ["droid.load_session", { mcpServers: [{ ...url, type: "stdio" }] }, "admin"],
    ["droid.load_session", { mcpServers: [{ ...url, command: "rm" }] }, "admin"],
    ["droid.load_session", { disabledToolIds: ["Read"] }, "admin user"],
    ["droid.list_tools", { disabledToolIds: ["Read"] }, "admin user viewer"],
  ] as const)("%s with %j is for: %s", (method, params, holders) => {
    expect(roles.filter((role) => allowsRpc(role, method, params)).join(" ")).toBe(holders);
  });
});

describe("script models", () => {
  const foreign = "script:/dev/zero";

  test.each(wires)("over /%s, an admin can name any, a user only the server's own", async (wire) => {
    const { client } = openServer([], { modelId: "script:own.yaml" });
    const refused = expect.stringMatching(
      /^refused: .*"script:\/dev\/zero" needs the role admin; this token has user\.$/,
    );
    expect((await client(wire).create({ model: foreign })).outcome).toEqual(refused);
    expect((await client(wire).create({ model: "script:own.yaml" })).outcome).toBe("done");
    expect((await client(wire, admin).create({ model: foreign })).outcome).toBe("done");
  });

  test.each(["user", "viewer"] as const)("over /rpc, no request of a %s reads one", async (role) => {
    const { rpc } = openServer();
    const { client } = rpc({ user: "ann", role });
    const { error } = await client.request("droid.list_tools", { modelId: foreign });
    expect(error?.message).toBe(`The script model "${foreign}" needs the role admin; this token has ${role}.`);
  });

  test("over /rpc, a user cannot switch to one", async () => {
    const { rpc, pool } = openServer();
    const { client, init } = rpc();
    const { result } = await init();
    for (const change of [{ modelId: foreign }, { specModeModelId: foreign }]) {
      const { error } = await client.request("droid.update_session_settings", change);
      expect(error).toMatchObject({ code: -32602, data: { code: "usage" } });
    }
    expect(pool.get(String(result?.sessionId))?.settings).toMatchObject({ modelId: "fake" });
  });
});

describe("a client's claims about itself are ignored", () => {
  const claims = {
    role: "admin",
    roles: ["admin"],
    user: "zoe",
    owner: "zoe",
    userId: "zoe",
    machineId: "zoe",
    scope: "admin",
    scopes: ["admin", "*"],
    ceilings: {},
    identity: { user: "zoe", role: "admin" },
    token: "of an admin",
  };
  const ceilings = { autonomy: "low" } as const;

  test("over /ws", async () => {
    const { ws, pool, stored } = openServer([], { autonomy: "high" });
    const client = ws(ann(ceilings));
    const { result } = await client.request("startSession", {
      ...claims,
      sessionParams: { ...claims, autonomy: "high" },
    });
    expect(pool.get(String(result?.sessionId))?.settings).toMatchObject({ owner: "ann", autonomy: "low" });
    const hers = await stored({ owner: "zoe" });
    const { error } = await client.request("resumeSession", { ...claims, sessionId: hers });
    expect(error?.data?.reason).toBe("unknown_session");
    expect((await client.request("capabilities", claims)).result).toMatchObject({ user: "ann", role: "user" });
    const listed = (await client.request("listSessions", claims)).result?.sessions;
    expect(listed).toMatchObject([{ sessionId: result?.sessionId }]);
    await client.close();
  });

  test("over /rpc", async () => {
    const { rpc, pool, stored } = openServer();
    const { client, init } = rpc(ann(ceilings));
    const { result } = await init(claims);
    expect(pool.get(String(result?.sessionId))?.settings).toMatchObject({ owner: "ann" });
    const hers = await stored({ owner: "zoe" });
    expect((await client.request("droid.load_session", { ...claims, sessionId: hers })).error?.code).toBe(-32004);
    const raised = await client.request("droid.update_session_settings", { ...claims, autonomyLevel: "high" });
    expect(raised.error?.code).toBe(-32602);
    const unsafe = await init({ ...claims, skipPermissionsUnsafe: true });
    expect(unsafe.error?.message).toBe("skipPermissionsUnsafe needs the role admin; this token has user.");
  });
});
