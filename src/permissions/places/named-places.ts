import type { DecisionContext, ProtectedPaths } from "../../engine/permission.ts";
import { folded, plain } from "./path-names.ts";
import { placesByKind } from "./places-by-kind.ts";

export type Homes = Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome">;

export interface NamedPlaces extends ProtectedPaths {
  /** The `closed` places that a session can work in. */
  readonly agents: ReadonlySet<string>;
  /** The user's homes, in comparison form. */
  readonly homes: readonly string[];
  /** The `closed` places in the homes of others. `*` is any user. */
  readonly others: readonly string[];
}

function namesOf(use: (typeof placesByKind)[number]["use"], where: "home" | "system"): readonly string[] {
  return placesByKind
    .filter((group) => group.use === use)
    .flatMap((group) => group[where]?.split(",") ?? [])
    .map((name) => name.trim());
}

/** Cached: a process's homes do not change, and every path of every command is compared with these. */
let last: { readonly of: Homes; readonly places: NamedPlaces } | undefined;

/** The protected places known by name. Returns the same object for the same homes. */
export function namedPlaces({ home, ownHome, ownConfig, loginHome }: Homes): NamedPlaces {
  const { of } = last ?? {};
  const isSame = of?.home === home && of.ownHome === ownHome && of.loginHome === loginHome;
  if (last !== undefined && isSame && of?.ownConfig === ownConfig) return last.places;
  const homes = loginHome === undefined || loginHome === home ? [home] : [home, loginHome];
  const places = (use: (typeof placesByKind)[number]["use"]): readonly string[] => [
    ...homes.flatMap((folder) => namesOf(use, "home").map((name) => plain(`${folder}/${name}`))),
    ...namesOf(use, "system"),
  ];
  // Tinman's home may be elsewhere now, but sessions of another run can be in its usual place.
  const usual = homes.map((folder) => plain(`${folder}/.tinman`));
  const own = new Set([plain(ownHome), ...(ownConfig === undefined ? [] : [plain(ownConfig)]), ...usual]);
  const agents = places("agents");
  const made = {
    closed: [...own, ...places("closed"), ...agents],
    kept: places("kept"),
    programs: places("programs"),
    links: [],
    agents: new Set(agents),
    others: ["/home/*", "/Users/*", "/root"]
      .filter((folder) => !homes.includes(folder))
      .flatMap((folder) =>
        [...namesOf("closed", "home"), ...namesOf("agents", "home")].map((name) => `${folder}/${name}`),
      ),
    homes: homes.map((folder) => folded(plain(folder))),
  };
  const elsewhere = {
    ...(loginHome === undefined ? {} : { loginHome }),
    ...(ownConfig === undefined ? {} : { ownConfig }),
  };
  last = { of: { home, ownHome, ...elsewhere }, places: made };
  return made;
}
