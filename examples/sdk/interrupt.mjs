// Stops a running turn. It still ends properly, and the session continues with the next prompt.
import { createSession } from "tinman/sdk";

const session = await createSession();
const turn = session.stream("run `sleep 60`");
for await (const event of turn) {
  if (event.type === "tool_call") await turn.interrupt();
}
const { status, reason } = await turn.result;
console.log(`${status} (${reason})`);
console.log((await session.send("Just reply OK.")).text);
await session.close();
