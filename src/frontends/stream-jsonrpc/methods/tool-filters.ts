import type { Session } from "../../../engine/session/session.ts";
import type { RunOptions } from "../../../engine/settings.ts";

/** Which tools a client wants to be offered, by their ids. Options of the process: they are not kept with the session. */
export interface ToolFilters {
  readonly enabledToolIds?: readonly string[];
  readonly disabledToolIds?: readonly string[];
  readonly additionalToolIds?: readonly string[];
  readonly restrictToolIds?: readonly string[];
}

type Given = { readonly [K in keyof ToolFilters]?: ToolFilters[K] | undefined };

/** In the order of the wire. A new filter does not compile without an entry. */
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

/** The filters of a session, and the clients that are told of them. */
export interface SessionFilters {
  current: ToolFilters;
  readonly clients: Set<{ tellFilters(): void }>;
}

const known = new WeakMap<Session, SessionFilters>();

/** They are one session's, however many connections work with it: what one client wants, the model is offered in all. */
export function filtersOf(session: Session): SessionFilters {
  const found = known.get(session) ?? { current: {}, clients: new Set() };
  known.set(session, found);
  return found;
}

/** From the next model call on; what is not named stays as it was. */
export function filterTools(session: Session, given: Given, run: RunOptions): void {
  const filters = filtersOf(session);
  filters.current = { ...filters.current, ...filtersIn(given) };
  session.limitTools(isAllowedUnder(filters.current, run));
}

/**
 * Whether a tool is offered under these filters: it is not disabled, and if there is a restriction, it is in it or enabled.
 * An id is the name in any case, or its words with dashes, with or without `-cli` at the end. Unknown ids are ignored.
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
  const kebab = name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  return [name.toLowerCase(), kebab, `${kebab}-cli`];
}
