import type { Access, FileChange, Preview } from "../../engine/permission.ts";
import { type DecidedScope, defineTool, failed, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import { type PatchSection, parsePatch } from "../../text/patch-parse.ts";
import { textStart } from "../../text/text-cut.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { halfCharacter, interrupted, isStopped, messageOf } from "../outcome.ts";
import { createPace } from "../pace.ts";
import { previewLimit } from "../text-file.ts";
import { z } from "../zod.ts";
import { commitPatch, isChanged } from "./patch-commit.ts";
import { planPatch } from "./patch-plan.ts";
import { patchReport } from "./patch-report.ts";

const input = z.strictObject({ input: z.string("input is required and must be a string") });
type Input = z.infer<typeof input>;

export const applyPatchTool = defineTool({
  input,

  /** An unreadable patch touches nothing and only fails when it runs. */
  async access(input, scope) {
    const accesses = new Map<string, Access>();
    for (const { types, name, isDeleted } of touched(sectionsOf(input))) {
      for (const type of types) {
        const access = await decideUse(type, name, scope);
        const deletes = isDeleted && access.type === "write" ? { deletes: true as const } : {};
        accesses.set(`${type} ${access.path} ${access.written ?? ""}`, { ...access, ...deletes });
      }
    }
    return [...accesses.values()];
  },

  preview,

  async run(input, context) {
    const broken = halfCharacter(input.input);
    if (broken !== undefined) return failed(`Cannot apply the patch: it ${broken}`);
    try {
      return await applyPatch(input, context);
    } catch (error) {
      if (isStopped(error)) return interrupted();
      return failed(`Cannot apply the patch. ${messageOf(error)}\nNothing was changed.`);
    }
  },
});

async function applyPatch(input: Input, context: ToolContext): Promise<ToolOutput> {
  const breathe = createPace(context.signal);
  const planned = await planPatch(parsePatch(input.input), {
    scope: context,
    resolve: (path) => decidedPath(path, context),
    breathe,
  });
  if (!planned.some(isChanged)) throw new Error("It changes no file.");
  const report = await patchReport(planned, breathe);
  if (context.signal.aborted) return interrupted();
  const trouble = await commitPatch(planned, context.host.files, context.seenFiles, context.signal);
  if (trouble === undefined) return { status: "ok", ...report };
  const isStop = context.signal.aborted;
  return isStop ? { text: `${interrupted().text}. ${trouble}`, status: "interrupted" } : failed(trouble);
}

function sectionsOf(input: Input): readonly PatchSection[] {
  try {
    return parsePatch(input.input);
  } catch {
    return [];
  }
}

interface Touched {
  readonly name: string;
  readonly types: readonly ("read" | "write")[];
  readonly isDeleted: boolean;
}

/** The change of each path, once for each way in which it is named. */
function touched(sections: readonly PatchSection[]): Iterable<Touched> {
  const byName = new Map<string, Touched>();
  for (const section of sections) {
    const target = section.change === "update" ? section.movedTo : undefined;
    const isDeleted = section.change === "delete";
    byName.set(section.path, { name: section.path, types: ["read", "write"], isDeleted });
    if (target !== undefined && !byName.has(target)) {
      byName.set(target, { name: target, types: ["write"], isDeleted: false });
    }
  }
  return byName.values();
}

async function preview(input: Input, scope: DecidedScope): Promise<Preview> {
  const patch = shownPatch(input.input);
  const sections = sectionsOf(input);
  const resolve = (path: string): Promise<string> => decidedPath(path, scope);
  const files: FileChange[] = [];
  let room = 2 * previewLimit;
  const onSection = ({ oldContent, newContent, ...outline }: FileChange): void => {
    const texts = {
      ...(oldContent === undefined ? {} : { oldContent }),
      ...(newContent === undefined ? {} : { newContent }),
    };
    const lengths = Object.values(texts).map((text) => text.length);
    const needed = lengths.reduce((sum, length) => sum + length, 0);
    const isShown = needed <= room && lengths.every((length) => length <= previewLimit);
    if (isShown) room -= needed;
    files.push(isShown ? { ...outline, ...texts } : outline);
  };
  try {
    await planPatch(sections, { scope, resolve, onSection });
    return { type: "patch", patch, files };
  } catch {
    const outlines = sections.map((section) => outlineOf(section, (path) => resolve(path).catch(() => path)));
    return { type: "patch", patch, files: await Promise.all(outlines) };
  }
}

/** For a patch that does not fit, only the files it names. */
async function outlineOf(section: PatchSection, resolve: (path: string) => Promise<string>): Promise<FileChange> {
  const movedTo = section.change === "update" ? section.movedTo : undefined;
  const moves = movedTo === undefined ? {} : { movedTo: await resolve(movedTo) };
  return { path: await resolve(section.path), ...moves, change: section.change };
}

/** Approvers see the whole call next to its preview. */
function shownPatch(patch: string): string {
  if (patch.length <= previewLimit) return patch;
  return `${textStart(patch, previewLimit)}\n[${patch.length - previewLimit} more characters: see the call]`;
}
