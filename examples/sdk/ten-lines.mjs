import { createSession } from "tinman/sdk";

const session = await createSession({
  onPermission: ({ calls }) => (calls.every(({ name }) => name === "Create") ? "proceed_once" : "cancel"),
});
for await (const event of session.stream("create file hello.txt with Hello!")) {
  if (event.type === "text") process.stdout.write(event.text);
  if (event.type === "tool_result") console.log(` (${event.name}: ${event.text})`);
  if (event.type === "end") console.log(` (${event.result.status})`);
}
await session.close();
