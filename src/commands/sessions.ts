import { realpath } from "node:fs/promises";
import { compose } from "../compose.ts";
import { AgentError } from "../engine/errors.ts";
import { foldLog } from "../engine/log/history.ts";
import { damageNotice, readRepaired } from "../engine/log/repair-log.ts";
import type { Message } from "../engine/message.ts";
import { textOf } from "../engine/message.ts";
import { printJson } from "../frontends/exec/report.ts";
import { exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";
import { textStart } from "../text/text-cut.ts";
import { fromHome } from "./working-folder.ts";

interface Json {
  readonly json?: boolean;
}

export async function listSessions(options: Json & { cwd?: string; limit: string }, io: Io): Promise<number> {
  const limit = Number(options.limit);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new AgentError("usage", "--limit must be a whole number of at least 1.");
  const { store } = await compose();
  const given = options.cwd === undefined ? undefined : fromHome(options.cwd);
  const cwd = given === undefined ? undefined : await realpath(given).catch(() => given);
  const unreadable: string[] = [];
  const sessions = await store.list({
    limit,
    ...(cwd === undefined ? {} : { cwd }),
    onUnreadable: (path) => unreadable.push(path),
  });
  if (options.json === true) {
    await printJson(sessions, io.stdout);
  } else if (sessions.length === 0) {
    await io.stdout.write("No sessions.\n");
  } else {
    const rows = sessions.map(({ id, updatedAt, cwd: folder, title }) => {
      const when = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
      return `${id}  ${when}  ${terminalLine(folder)}  ${terminalLine(textStart(title, 80))}\n`;
    });
    await io.stdout.write(rows.join(""));
  }
  if (unreadable.length > 0) await io.stderr.write(`tinman: ${unreadableWords(unreadable)}\n`);
  return exitCodes.success;
}

function unreadableWords(paths: readonly string[]): string {
  const logs = paths.length === 1 ? "1 session log" : `${paths.length} session logs`;
  const [first = ""] = paths;
  const named = `${terminalLine(first)}${paths.length === 1 ? "" : " and others"}`;
  return `${logs} cannot be read and ${paths.length === 1 ? "is" : "are"} not listed: ${named}. tinman sessions show <id> prints the reason.`;
}

export async function showSession(id: string, options: Json, io: Io): Promise<number> {
  const { store } = await compose();
  const [info, { events, damagedLines, missingRecords }] = await Promise.all([store.info(id), readRepaired(store, id)]);
  const state = foldLog(events);
  const waiting = [...state.waiting].map(([messageId, { content, at }]) => ({ id: messageId, content, createdAt: at }));
  const { settings, messages, usage } = state;
  // While a turn is open, the last recorded end belongs to an earlier turn.
  const isTurnOpen = state.turn !== undefined;
  const lastEnd = isTurnOpen ? undefined : state.lastEnd;
  if (options.json === true) {
    const shown = {
      ...info,
      cwd: state.cwd,
      settings,
      messages,
      waiting,
      usage,
      lastEnd: lastEnd ?? null,
      isTurnOpen,
      damagedLines,
      missingRecords,
    };
    await printJson(shown, io.stdout);
    return exitCodes.success;
  }
  const lines = [
    `${info.id}  ${terminalLine(info.title)}`,
    `${terminalLine(state.cwd)}  ${terminalLine(settings.modelId)}  ${lastEnd ?? (isTurnOpen ? "not ended" : "not run")}`,
  ];
  for (const message of messages) lines.push("", ...describe(message));
  for (const { content } of waiting) lines.push("", `waiting: ${terminalText(textOf(content))}`);
  if (isTurnOpen) lines.push("", "The last turn has not ended: it is running, or its process was killed.");
  await io.stdout.write(`${lines.join("\n")}\n`);
  const notice = damageNotice({ damagedLines, missingRecords });
  if (notice !== undefined) await io.stderr.write(`tinman: ${notice}\n`);
  return exitCodes.success;
}

export async function printPath(id: string, io: Io): Promise<number> {
  const { store } = await compose();
  await io.stdout.write(`${(await store.info(id)).path}\n`);
  return exitCodes.success;
}

export async function deleteSessions(ids: readonly string[], io: Io): Promise<number> {
  const { store } = await compose();
  for (const id of ids) {
    await store.remove(id);
    await io.stdout.write(`deleted ${id}\n`);
  }
  return exitCodes.success;
}

function describe(message: Message): readonly string[] {
  if (message.role === "user") return [`user: ${terminalText(textOf(message.content))}`];
  if (message.role === "tool") {
    return message.content.map(({ name, status, text }) => {
      return `${terminalLine(name)} (${status}): ${terminalText(textStart(text, 2_000))}`;
    });
  }
  return message.content.flatMap((block) => {
    if (block.type === "text") return [`assistant: ${terminalText(block.text)}`];
    if (block.type === "thinking") return [`thinking: ${terminalText(block.text)}`];
    const input = block.malformedInput ?? JSON.stringify(block.input) ?? "";
    return [`calls ${terminalLine(block.name)} ${terminalText(textStart(input, 500))}`];
  });
}
