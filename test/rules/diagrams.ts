import { posix } from "node:path";
import { helpers } from "../../scripts/import-rules.mjs";
import { blocksOf } from "../docs/blocks.ts";
import type { ImportGraph } from "./import-cycles.ts";

/** The block after `<!-- diagram: name -->`. */
export function diagramOf(markdown: string, name: string): string {
  const [, after = ""] = markdown.split(`<!-- diagram: ${name} -->\n`);
  return blocksOf("", after)[0]?.text ?? "";
}

/** Rooms from top to bottom, each with the targets of its arrows. */
export function roomsOf(diagram: string): ReadonlyMap<string, readonly string[]> {
  const rooms = new Map<string, readonly string[]>();
  for (const line of diagram.replaceAll(/,\n +/g, ", ").split("\n")) {
    const [names = "", targets = ""] = line.replace(/^\w* +/, "").split("─▶");
    for (const name of namesIn(names)) rooms.set(name, namesIn(targets));
  }
  return rooms;
}

function namesIn(text: string): readonly string[] {
  return text.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}

/** Differences between the diagram of the rooms and the imports. Paths begin with `src/`. */
export function roomFaults(diagram: string, graph: ImportGraph): readonly string[] {
  const rooms = roomsOf(diagram);
  const order = [...rooms.keys()];
  const roomOf = (path: string): string =>
    order.filter((room) => holds(room, path)).sort((a, b) => b.length - a.length)[0] ??
    posix.join(path.split("/")[1] ?? "");
  const drawn = new Set<string>();
  const faults: string[] = [];
  for (const [room, targets] of rooms) {
    if (![...graph.keys()].some((path) => holds(room, path))) faults.push(`${room} does not exist`);
    for (const target of targets) {
      drawn.add(`${room} ─▶ ${target}`);
      if (order.indexOf(roomOf(`src/${target}`)) <= order.indexOf(room)) faults.push(`${room} ─▶ ${target} points up`);
    }
  }
  const used = new Set<string>();
  for (const [path, imported] of graph) {
    const room = roomOf(path);
    const targets = rooms.get(room);
    if (targets === undefined) faults.push(`${room} is missing`);
    for (const other of imported) {
      const to = roomOf(other);
      if (to === room || helpers.includes(to)) continue;
      const target = targets?.filter((name) => holds(name, other)).sort((a, b) => b.length - a.length)[0];
      used.add(`${room} ─▶ ${target ?? to}`);
    }
  }
  for (const arrow of used) if (!drawn.has(arrow)) faults.push(`${arrow} is imported, not drawn`);
  for (const arrow of drawn) if (!used.has(arrow)) faults.push(`${arrow} is drawn, not imported`);
  return [...new Set(faults)];
}

function holds(room: string, path: string): boolean {
  return path === `src/${room}` || path.startsWith(`src/${room}/`);
}

/** Where the diagram of a turn and the imports differ. `base` is the folder its paths start from. */
export function turnFaults(
  diagram: string,
  base: string,
  texts: ReadonlyMap<string, string>,
  graph: ImportGraph,
): readonly string[] {
  const above: { readonly at: number; readonly path: string }[] = [];
  const faults: string[] = [];
  for (const line of diagram.split("\n")) {
    const [found, name = ""] = /([\w/-]+\.ts)\b/.exec(line) ?? [];
    if (found === undefined) continue;
    const at = line.indexOf(name);
    const path = posix.join(base, name);
    while ((above.at(-1)?.at ?? -1) >= at) above.pop();
    const parent = above.at(-1)?.path;
    above.push({ at, path });
    const text = texts.get(path);
    if (text === undefined) faults.push(`${path} does not exist`);
    else if (parent !== undefined && !graph.get(parent)?.includes(path))
      faults.push(`${parent} does not import ${path}`);
    const events = line.match(/\b[a-z]+\.(?!ts\b)[a-z]+\b/g) ?? [];
    for (const event of events) if (!text?.includes(`"${event}"`)) faults.push(`${path} does not name ${event}`);
  }
  return faults;
}
