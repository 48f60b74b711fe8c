import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Fields, fieldsOf, isRecord, listOf } from "../../text/values.ts";
import type { OfferedServer } from "./project-file.ts";
import { changeJson, readJson } from "./shared-json.ts";

/* `$TINMAN_HOME/mcp/trusted.json`: which servers of repositories the user has trusted, and as what. */

export type Trust = "trusted" | "changed" | "new";

/** How the user's trust covers servers as they are now. Rejects with `config_invalid`. */
export async function readTrust(home: string): Promise<(server: OfferedServer) => Trust> {
  const rows = rowsOf(await readJson(trustFile(home)));
  return (server) => {
    const own = rows.filter((row) => row.folder === server.folder && row.name === server.name);
    if (own.some(({ hash }) => hash === hashOf(server))) return "trusted";
    return own.length === 0 ? "new" : "changed";
  };
}

/** Trusts servers exactly as they are. Rejects with `config_invalid` or `storage_failed`. */
export async function addTrust(home: string, servers: readonly OfferedServer[]): Promise<void> {
  await changeJson(trustFile(home), (file) => {
    const others = rowsOf(file).filter((row) => !servers.some((server) => isSame(row, server)));
    const fresh = servers.map((server) => ({ folder: server.folder, name: server.name, hash: hashOf(server) }));
    return { ...file, trusted: [...others, ...fresh] };
  });
}

function trustFile(home: string): string {
  return join(home, "mcp", "trusted.json");
}

function rowsOf(file: Fields): readonly Fields[] {
  return listOf(file.trusted).map(fieldsOf);
}

function isSame(row: Fields, { folder, name }: OfferedServer): boolean {
  return row.folder === folder && row.name === name;
}

/** Covers the place, the name, and everything that decides what is started or reached. Variables count by name. */
function hashOf({ folder, name, entry }: OfferedServer): string {
  const { isDisabled: _, ...effective } = entry;
  return createHash("sha256")
    .update(JSON.stringify(sorted({ folder, name, entry: effective })))
    .digest("hex");
}

/** Independent of the order of keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, sorted(value[key])]);
}
