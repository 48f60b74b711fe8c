// A whole turn: one call, one result. Failures within a turn are in the result, not thrown.
import { createSession } from "tinman/sdk";

const session = await createSession();
for (const prompt of ["The gate code is 5519. Just reply OK.", "What gate code did I tell you?"]) {
  const { status, text, error } = await session.send(prompt);
  console.log(status === "completed" ? text : `${status}: ${error?.message ?? ""}`);
}
await session.close();
