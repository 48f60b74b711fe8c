import { realpathSync } from "node:fs";
import { join } from "node:path";
import { loadUserConfig } from "../../config/load.ts";
import { type ServeUser, serveSettings } from "../../config/serve/serve-settings.ts";
import type { NamedUser } from "../../server/credentials.ts";
import type { HttpServerOptions } from "../../server/server.ts";
import { tokenFile } from "../../server/token-file.ts";

/** The sources of tokens: this machine's own, and the users of the configuration. */
export function authOf(ownHome: string, configFile: string | undefined): NonNullable<HttpServerOptions["auth"]> {
  const named = configFile === undefined ? {} : { file: configFile };
  return {
    tokenFile: tokenFile(ownHome),
    users: {
      file: configFile ?? join(ownHome, "config.yaml"),
      load: async () => serveSettings(await loadUserConfig(ownHome, named)).users.map(namedUser),
    },
  };
}

function namedUser({ name, role, tokens, folders, autonomy, models }: ServeUser): NamedUser {
  const ceilings = {
    ...(folders === undefined ? {} : { folders: folders.map(canonical) }),
    ...(autonomy === undefined ? {} : { autonomy }),
    ...(models === undefined ? {} : { models }),
  };
  return { name, role, tokens, ...(Object.keys(ceilings).length === 0 ? {} : { ceilings }) };
}

/** Sessions use canonical paths. A folder that does not exist contains no session. */
function canonical(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
