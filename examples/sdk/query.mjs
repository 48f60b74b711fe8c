// One prompt in its own session, which closes when the turn has ended.
import { query } from "tinman/sdk";

const { status, text } = await query("what is 17*3").result;
console.log(`${status}: ${text}`);

// Or with its events. Leaving the loop interrupts the turn and closes the session.
for await (const event of query("run `sleep 60`")) {
  if (event.type !== "tool_call") continue;
  console.log(`> ${event.input.command}`);
  break;
}
