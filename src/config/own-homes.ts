import { AgentError } from "../engine/errors.ts";
import { errorMessage } from "../text/values.ts";
import { findHomes, type Homes } from "./home.ts";

/** Rejects a home that would be another folder in every working directory with `config_invalid`. */
export function ownHomes(env: NodeJS.ProcessEnv): Homes {
  try {
    return findHomes(env);
  } catch (error) {
    throw new AgentError("config_invalid", errorMessage(error), { cause: error });
  }
}
