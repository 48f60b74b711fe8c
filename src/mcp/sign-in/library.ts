/** The library of MCP. It is loaded when a server asks for a sign-in, and not before. */
export type Library = typeof import("@modelcontextprotocol/client");

let loaded: Promise<Library> | undefined;

export function loadLibrary(): Promise<Library> {
  loaded ??= import("@modelcontextprotocol/client");
  return loaded;
}
