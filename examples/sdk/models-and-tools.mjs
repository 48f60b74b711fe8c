// Lists the backend's models and the agent's tools, and calls any other method of the protocol.
import { createSession } from "tinman/sdk";

const session = await createSession({ disabledToolIds: ["FetchUrl"] });
for (const { id, displayName, reasoningEfforts } of await session.models()) {
  console.log(`${id}: ${displayName}, ${reasoningEfforts.join(" ")}`);
}
for (const { name, isAllowed } of await session.tools()) {
  console.log(`${name}${isAllowed ? "" : " (not offered)"}`);
}
console.log(await session.call("list_skills"));
await session.close();
