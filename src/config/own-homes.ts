import { AgentError } from "../engine/errors.ts";
import { errorMessage } from "../text/values.ts";
import { findHomes, type Homes } from "./home.ts";

/** The homes. Throws `config_invalid` for a home that depends on the working directory. */
export function ownHomes(env: NodeJS.ProcessEnv): Homes {
  try {
    return findHomes(env);
  } catch (error) {
    throw new AgentError("config_invalid", errorMessage(error), { cause: error });
  }
}
