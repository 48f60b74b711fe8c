// The latest sessions of this folder, read from their logs without starting a program. `droid: true` includes droid's.
import { listSessions, query } from "tinman/sdk";

await query("The gate code is 5519. Just reply OK.").result;
await query("The door code is 7070. Just reply OK.").result;

for (const { updatedAt, backend, title } of await listSessions({ cwd: process.cwd(), limit: 2 })) {
  console.log(`${new Date(updatedAt).toISOString()} ${backend}: ${title}`);
}
