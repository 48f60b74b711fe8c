import { readPlainText } from "../../config/bounded-file.ts";
import { invalid, reason } from "../../config/check/config-fault.ts";
import { parseJsonWithComments } from "../../config/models/json-with-comments.ts";
import type { NamedServer } from "../../engine/servers/server-entry.ts";
import { decodeDocument } from "../../mcp/entries/decode-entry.ts";
import { expandEntry } from "../../mcp/entries/expand-entry.ts";
import { fromHome } from "../working-folder.ts";

/**
 * The servers of `--mcp-config`. Of two with one name, the last one counts. Rejects with `config_invalid` for a file without
 * servers; `warn` gets a sentence about each server that cannot be used.
 */
export async function serversInFiles(
  files: readonly string[],
  warn: (problem: string) => Promise<void>,
): Promise<readonly NamedServer[]> {
  const servers = new Map<string, NamedServer>();
  for (const file of files) {
    const text = await readPlainText(fromHome(file)).catch((error: unknown) => {
      throw invalid(file, reason(error));
    });
    const decoded = decodeDocument(parseJsonWithComments(text), file);
    if (decoded === undefined) throw invalid(file, 'must be JSON with a map "mcpServers"');
    for (const problem of decoded.problems) await warn(problem);
    for (const server of decoded.servers) {
      const whole = expandEntry(server, process.env);
      if ("fault" in whole) await warn(whole.fault);
      else servers.set(server.name, { name: server.name, entry: whole.entry });
    }
  }
  return [...servers.values()];
}
