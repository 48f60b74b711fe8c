import type { Contained } from "../../engine/containment.ts";
import { defineTool, failed, succeeded, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import { textEnd } from "../../text/text-cut.ts";
import { messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { commandReport } from "./command-report.ts";

const defaultSeconds = 60;
const mostSeconds = 3600;
const keepBytes = 16 * 1024;
const progressLines = 2;
const progressCharacters = 2000;

export const executeTool = defineTool({
  input: z.strictObject({
    command: z.string("command is required and must be a string"),
    timeout: z
      .number("timeout must be a number of seconds")
      .refine((seconds) => seconds <= mostSeconds, { error: ({ input }) => tooLong(input) })
      .optional(),
    riskLevelReason: z.string().optional(),
    riskLevel: z.enum(["low", "medium", "high"]).optional(),
    fireAndForget: z.boolean("fireAndForget must be true or false").optional(),
  }),

  async access(input) {
    // A blank command runs nothing, so there is nothing to decide.
    if (isBlank(input.command)) return [];
    const claimed = input.riskLevel === undefined ? {} : { claimed: input.riskLevel };
    const background = input.fireAndForget ?? false;
    return [{ type: "command", command: input.command, ...claimed, background }];
  },

  async preview(input) {
    return { type: "command", command: input.command };
  },

  async run(input, context) {
    if (isBlank(input.command)) return failed("command is required and must be a string");
    const timeout = input.timeout ?? defaultSeconds;
    if (!(timeout > 0)) return failed("timeout is the number of seconds to wait: above 0");
    try {
      if (input.fireAndForget) return await startBackground(input.command, context);
      const result = await context.host.processes.run(
        {
          command: input.command,
          cwd: context.cwd,
          timeoutMs: Math.ceil(timeout * 1000),
          spoolPath: await context.host.outputPath(context.sessionId, "execute"),
          keepBytes,
          onProgress: (tail) => context.progress(lastLines(tail)),
          ...containedIn(context),
        },
        context.signal,
      );
      return commandReport(result, timeout, context.walls);
    } catch (error) {
      return failed(`Command could not be started: ${messageOf(error)}`);
    }
  },
});

function tooLong(seconds: unknown): string {
  return `timeout is in seconds, at most ${mostSeconds}, got ${seconds}. Use fireAndForget for longer commands`;
}

async function startBackground(command: string, context: ToolContext): Promise<ToolOutput> {
  const outputPath = await context.host.outputPath(context.sessionId, "execute");
  const contained = containedIn(context);
  const { pid } = await context.host.processes.startBackground({ command, cwd: context.cwd, outputPath, ...contained });
  const note =
    context.walls === undefined
      ? `It keeps running after Tinman ends. Read the output file to follow it; stop it with: kill -- -${pid}`
      : `It runs in the sandbox, and ends with this session. Read the output file to follow it; stop it with: kill ${pid}`;
  return succeeded(
    `Background process started (PID: ${pid})\nCommand: ${command}\nOutput: ${outputPath}\nStatus: Running in background\n\nNote: ${note}`,
  );
}

function containedIn({ sessionId, walls }: ToolContext): { readonly contained?: Contained } {
  return walls === undefined ? {} : { contained: { sessionId, walls } };
}

function isBlank(command: string): boolean {
  return command.trim() === "";
}

function lastLines(tail: string): string {
  const lines = tail.trimEnd().split("\n").slice(-progressLines).join("\n");
  return lines.length <= progressCharacters ? lines : textEnd(lines, progressCharacters);
}
