// Decides what the agent can do. Without onPermission, the answer is always no.
import { createSession } from "tinman/sdk";

function decide({ calls, options }) {
  for (const { name, details } of calls) console.log(`? ${name} ${details.fileName ?? details.fullCommand}`);
  console.log(`  ${options.map(({ value }) => value).join(", ")}`);
  // One answer covers all calls of the request, so each of them must be acceptable.
  const areNotes = calls.every(({ details }) => details.type === "create" && details.fileName.endsWith(".md"));
  return areNotes ? "proceed_once" : { option: "cancel", comment: "Only notes, please." };
}

const session = await createSession({ onPermission: decide });
for (const prompt of ["create file notes.md with hello", "run `touch other.txt`"]) {
  const { status, reason } = await session.send(prompt);
  console.log(`${status} (${reason})`);
}
await session.close();
