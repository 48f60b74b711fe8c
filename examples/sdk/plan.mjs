// Has the agent plan first, and approves the plan.
import { createSession } from "tinman/sdk";

const session = await createSession({
  interactionMode: "spec",
  onPlan({ plan, options }) {
    console.log(plan);
    for (const { value, label } of options) console.log(`${value}: ${label}`);
    // From here on, writing files needs no permission.
    return "proceed_auto_run_low";
  },
});
const { status, text } = await session.send("create file x.txt with hello");
console.log(`\n${status}: ${text}`);
console.log(`${session.settings.interactionMode}, ${session.settings.autonomyLevel}`);
await session.close();
