import type { Host } from "../../engine/ports.ts";
import { defineTool, failed, succeeded, type ToolOutput } from "../../engine/tool.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";

const notApproved = "Error: Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.";
const handedOver = "This run has no user to approve the plan, so the plan is its answer.";

export const exitSpecModeTool = defineTool({
  input: z.strictObject({
    plan: z.string("plan is required and must be a string"),
    optionNames: z.array(z.string(), "optionNames must be a list of names").optional(),
    title: z.string("title must be a string").optional(),
  }),

  async access() {
    return [];
  },

  async run({ plan, title: givenTitle, optionNames }, context): Promise<ToolOutput> {
    if (plan.trim() === "") return failed("plan is required: the whole plan, as Markdown");
    const title = givenTitle?.trim() === "" ? undefined : givenTitle;
    const titled = title === undefined ? {} : { title };
    const answer = await context.ask({
      kind: "plan",
      callId: context.callId,
      plan,
      ...titled,
      ...(optionNames === undefined ? {} : { optionNames }),
    });
    if (context.signal.aborted) return interrupted();
    if (answer === undefined)
      return { text: handedOver, status: "ok", endTurn: { reason: "planned", finalText: withHeading(plan, title) } };
    if (answer.kind === "approve") {
      const kept = await keep(context.host, { ...titled, text: withHeading(plan, title) });
      const handoff = { plan, ...titled, isNewSession: false };
      return succeeded(JSON.stringify({ approved: true, ...kept, handoff, isEdited: false }));
    }
    const why = answer.kind === "cancel" && answer.why !== undefined ? ` (${answer.why})` : "";
    return { text: notApproved + why, status: "refused", endTurn: { reason: "cancelled" } };
  },
});

/** The plan is approved even if saving it fails. */
async function keep(
  host: Host,
  plan: Parameters<Host["savePlan"]>[0],
): Promise<{ readonly message: string; readonly filePath?: string }> {
  const approved = "The plan is approved. Carry it out now.";
  try {
    const filePath = await host.savePlan(plan);
    return { message: `${approved} It is saved in ${filePath}.`, filePath };
  } catch (error) {
    return { message: `${approved} It could not be saved: ${messageOf(error)}` };
  }
}

function withHeading(plan: string, title: string | undefined): string {
  if (title === undefined) return plan;
  const firstLine = plan.trimStart().split("\n", 1)[0] ?? "";
  const heading = firstLine.replace(/^#+\s*/, "").trim();
  return heading.toLowerCase() === title.trim().toLowerCase() ? plan : `# ${title.trim()}\n\n${plan}`;
}
