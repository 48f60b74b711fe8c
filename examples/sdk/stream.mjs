// Streams a turn: text as it is written, every call once, every result once, and one end.
import { createSession } from "tinman/sdk";

const session = await createSession();
for await (const event of session.stream("run `echo hello`, then just reply DONE")) {
  switch (event.type) {
    case "text":
      process.stdout.write(event.text);
      break;
    case "text_reset":
      // The backend restarted this reply: discard the text so far.
      process.stdout.write("\n(again) ");
      break;
    case "tool_call":
      process.stdout.write(`\n> ${event.name} ${JSON.stringify(event.input)}\n`);
      break;
    case "tool_result":
      process.stdout.write(`< ${event.text}\n`);
      break;
    case "end":
      process.stdout.write(`\n${event.result.status}\n`);
  }
}
await session.close();
