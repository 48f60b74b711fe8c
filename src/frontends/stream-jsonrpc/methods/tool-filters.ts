import type { Session } from "../../../engine/session/session.ts";
import type { RunOptions } from "../../../engine/settings.ts";

/** Tools that a client wants to be offered, by id. Kept in the process, not with the session. */
export interface ToolFilters {
  readonly enabledToolIds?: readonly string[];
  readonly disabledToolIds?: readonly string[];
  readonly additionalToolIds?: readonly string[];
  readonly restrictToolIds?: readonly string[];
}

type Given = { readonly [K in keyof ToolFilters]?: ToolFilters[K] | undefined };

/** In the wire's order. A new filter compiles only with an entry here. */
const isFilter: Readonly<Record<keyof ToolFilters, true>> = {
  enabledToolIds: true,
  disabledToolIds: true,
  additionalToolIds: true,
  restrictToolIds: true,
};
const filterKeys = Object.keys(isFilter) as (keyof ToolFilters)[];

/** The filters alone, always in the same order. */
export function filtersIn(params: Given): ToolFilters {
  const given = filterKeys.map((key) => [key, params[key]] as const);
  return Object.fromEntries(given.filter(([, ids]) => ids !== undefined));
}

/** A session's filters, and the clients to notify of changes. */
export interface SessionFilters {
  current: ToolFilters;
  readonly clients: Set<{ tellFilters(): void }>;
}

const known = new WeakMap<Session, SessionFilters>();

/** They belong to the session: one client's choice applies to all its connections. */
export function filtersOf(session: Session): SessionFilters {
  const found = known.get(session) ?? { current: {}, clients: new Set() };
  known.set(session, found);
  return found;
}

/** Applies from the next model call on. Filters that are absent stay unchanged. */
export function filterTools(session: Session, given: Given, run: RunOptions): void {
  const filters = filtersOf(session);
  filters.current = { ...filters.current, ...filtersIn(given) };
  session.limitTools(isAllowedUnder(filters.current, run));
}

/**
 * Whether these filters offer a tool: it is not disabled, and any restriction includes or enables it. An id is the name
 * in any case, or its words with dashes, with or without `-cli`; for all tools of a server, `<server>___*`. Unknown ids
 * are ignored.
 */
export function isAllowedUnder(filters: ToolFilters, { disabledTools = [] }: RunOptions): (name: string) => boolean {
  const setOf = (ids: readonly string[] = []): ReadonlySet<string> => new Set(ids.map((id) => id.toLowerCase()));
  const wanted = setOf([...(filters.enabledToolIds ?? []), ...(filters.additionalToolIds ?? [])]);
  const unwanted = setOf([...(filters.disabledToolIds ?? []), ...disabledTools]);
  const only = filters.restrictToolIds === undefined ? undefined : setOf(filters.restrictToolIds);
  return (name) => {
    const ids = idsOf(name);
    const isIn = (set: ReadonlySet<string>): boolean => ids.some((id) => set.has(id));
    return !isIn(unwanted) && (only === undefined || isIn(only) || isIn(wanted));
  };
}

function idsOf(name: string): readonly string[] {
  const end = name.indexOf("___");
  if (end > 0) return [name.toLowerCase(), `${name.slice(0, end).toLowerCase()}___*`];
  const kebab = name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  return [name.toLowerCase(), kebab, `${kebab}-cli`];
}
