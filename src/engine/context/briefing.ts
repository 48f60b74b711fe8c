import { seemsContained } from "../calls/session-sandbox.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { EventBody } from "../event.ts";
import type { Journal } from "../log/journal.ts";
import { type PromptBlock, remindersOf } from "../message.ts";
import type { CommandRules } from "../permission.ts";
import type { ModelInfo } from "../ports.ts";
import type { RunOptions } from "../settings.ts";

const noRules: CommandRules = { allow: [], deny: [], alwaysDeny: [] };

/** The call whose folders are inspected. */
const mostPaths = 20;

/** A session's texts for its model besides the prompts, and one-time notices for its user. */
export class Briefing {
  private readonly parts: EngineParts;
  private readonly journal: Journal;
  private readonly noticed = new Set<string>();
  private readonly denied = new Map<string, CommandRules["deny"][number]>();
  /** How many messages there were when the environment was told. Without a new one since, its prompt was not taken. */
  private orientedAt: number | undefined;
  /** Instructions of folders below the workspace, on their way to the log. */
  private readonly toldBelow = new Set<string>();
  private readonly run: RunOptions;
  private readonly canAsk: () => boolean;

  /** `canAsk`: whether an attached client can grant permission now. */
  constructor(parts: EngineParts, journal: Journal, run: RunOptions, canAsk: () => boolean) {
    this.parts = parts;
    this.journal = journal;
    this.run = run;
    this.canAsk = canAsk;
  }

  /** If the client runs the tools, the model works there, and this folder and its rules don't apply. */
  get isHere(): boolean {
    return this.journal.state.settings.clientRunsTools !== true;
  }

  /**
   * Read again for every reply, because the file can change. Deny rules apply until the session closes, so that the
   * model cannot drop one by switching to a branch without the file.
   */
  async rules(): Promise<CommandRules> {
    if (!this.isHere) return noRules;
    const { rules, notices } = await this.parts.rules(this.journal.state.cwd);
    for (const text of notices) await this.notice({ type: "notice", level: "warning", text });
    for (const rule of rules.deny) this.denied.set(JSON.stringify(rule), rule);
    return this.denied.size === rules.deny.length ? rules : { ...rules, deny: [...this.denied.values()] };
  }

  async notice(body: EventBody & { type: "notice" }): Promise<void> {
    if (this.noticed.has(body.text)) return;
    this.noticed.add(body.text);
    await this.journal.emit(body);
  }

  /** Notice that the model answering was not chosen by the user. */
  async tellUnaskedModel(model: () => Promise<ModelInfo>): Promise<void> {
    const { unaskedModelNotice } = this.run;
    if (unaskedModelNotice === undefined || this.journal.state.settings.isModelNamed === true) return;
    const { modelId, text } = unaskedModelNotice;
    const answering = await model().catch(() => undefined);
    if (answering?.id === modelId) await this.notice({ type: "notice", level: "warning", text, code: "unasked_model" });
  }

  /** Providers reject half a character, so a replacement is sent, and its author should know. */
  async heard(prompt: readonly PromptBlock[]): Promise<void> {
    if (prompt.every((block) => block.type !== "text" || block.text.isWellFormed())) return;
    const text = "The prompt contains half a character (a lone surrogate). It was replaced by \ufffd for the model.";
    await this.notice({ type: "notice", level: "warning", text });
  }

  /** Context about the place where the model works, as of now. */
  async instructions(): Promise<readonly string[]> {
    if (!this.isHere) return [];
    const { context } = this.parts;
    const { cwd, messages } = this.journal.state;
    const permissions = this.permissions();
    const below = messages
      .flatMap((message) => (message.role === "tool" ? remindersOf(message) : []))
      .filter((text) => permissions === undefined || !text.startsWith(headingOf(permissions)));
    const [environment, ...others] = await context.reminders(cwd);
    const first = [environment, permissions].filter((text) => text !== undefined).join("\n\n");
    return [...(first === "" ? [] : [first]), ...others, ...new Set(below)];
  }

  /** Instructions of folders where a call has just worked for the first time. */
  async instructionsFor(paths: readonly string[]): Promise<readonly string[]> {
    const { cwd, view } = this.journal.state;
    const { below } = this.parts.context;
    const inside = paths.filter((path) => path.startsWith(`${cwd}/`)).slice(0, mostPaths);
    if (!this.isHere || below === undefined || inside.length === 0) return [];
    const found = new Set((await Promise.all(inside.map((path) => below(cwd, path)))).flat());
    for (const text of [...view.flatMap(remindersOf), ...this.toldBelow]) found.delete(text);
    for (const text of found) this.toldBelow.add(text);
    return [...found];
  }

  /** Changes since the last report, for the model to read after the results of its calls. */
  permissionsNews(): readonly string[] {
    const permissions = this.isHere ? this.permissions() : undefined;
    if (permissions === undefined || isToldLast(permissions, this.journal.state.view.flatMap(remindersOf))) return [];
    return [permissions];
  }

  private permissions(): string | undefined {
    const { settings, cwd } = this.journal.state;
    const { autonomy, mode } = settings;
    const contained = seemsContained(this.parts, autonomy) === true;
    return this.parts.context.permissions?.({ ...this.run, autonomy, mode, cwd, contained, canAsk: this.canAsk() });
  }

  /** The model's workplace, once per process; texts already in the conversation are not repeated. */
  async reminders(): Promise<readonly string[]> {
    const { state } = this.journal;
    const told = state.view.flatMap(remindersOf);
    const news: string[] = [];
    // Reports a broken rule before anything else is done.
    await this.rules();
    const isOriented = this.orientedAt !== undefined && state.messages.length > this.orientedAt;
    if (this.isHere && !isOriented) {
      this.orientedAt = state.messages.length;
      const texts = await this.parts.context.reminders(state.cwd);
      news.push(...texts.filter((text) => !told.some((other) => other.includes(text))));
    }
    const permissions = this.isHere ? this.permissions() : undefined;
    if (permissions !== undefined && !isToldLast(permissions, told)) {
      // Clients show each reminder as a separate block, so the first prompt has just one if possible.
      const [environment, ...others] = news;
      const first = environment === undefined ? permissions : `${environment}\n\n${permissions}`;
      news.splice(0, news.length, first, ...others);
    }
    if (state.lastEnd === "failed" && state.messages.at(-1)?.role === "assistant") {
      news.push("Your last answer broke off because the connection to you failed.");
    }
    if (state.lastEnd === "interrupted") news.push("The previous turn was interrupted before it was finished.");
    return news;
  }
}

function headingOf(permissions: string): string {
  return permissions.slice(0, permissions.indexOf("\n") + 1);
}

/** Only the last report counts, because they change. */
function isToldLast(permissions: string, told: readonly string[]): boolean {
  const heading = headingOf(permissions);
  const last = told.findLast((text) => text.startsWith(heading) || text.includes(`\n\n${heading}`));
  return last === permissions || last?.endsWith(`\n\n${permissions}`) === true;
}
