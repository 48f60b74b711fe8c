import type { Context } from "./connection.ts";
import type { LiveSession } from "./live-session.ts";
import { allowedTools, type ToolFilters } from "./settings.ts";

type Given = { readonly [K in keyof ToolFilters]?: ToolFilters[K] | undefined };

export function filtersIn(params: Given): ToolFilters {
  const { enabledToolIds, disabledToolIds, additionalToolIds, restrictToolIds } = params;
  return {
    ...(enabledToolIds === undefined ? {} : { enabledToolIds }),
    ...(disabledToolIds === undefined ? {} : { disabledToolIds }),
    ...(additionalToolIds === undefined ? {} : { additionalToolIds }),
    ...(restrictToolIds === undefined ? {} : { restrictToolIds }),
  };
}

/** The names of the tools that are offered under these filters. */
export function namesUnder(filters: ToolFilters, { engine, options }: Context): readonly string[] {
  const names = engine.tools.map(({ name }) => name);
  return allowedTools(names, filters, options.run.disabledTools ?? []);
}

/** From the next model call on; what is not named stays as it was. */
export function filterTools(live: LiveSession, params: Given, context: Context): void {
  const filters = { ...live.filters, ...filtersIn(params) };
  live.session.limitTools(namesUnder(filters, context));
  live.filters = filters;
}
