// Gives up waiting: the promise rejects with the signal's reason at once, and the turn is interrupted behind it.
import { createSession } from "tinman/sdk";

const session = await createSession({ signal: AbortSignal.timeout(30_000) });
try {
  await session.send("run `sleep 60`", { signal: AbortSignal.timeout(500) });
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
console.log((await session.send("Just reply OK.")).text);
await session.close();
