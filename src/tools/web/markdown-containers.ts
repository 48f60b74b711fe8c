export type Container = "list" | "item" | "quote";

interface Open {
  readonly kind: Container;
  /** The prefixes of its first line, and of the others. */
  readonly first: string;
  readonly rest: string;
  isFresh: boolean;
  /** In an ordered list: the number of the next item. */
  next?: number;
  hasItems?: boolean;
}

/** Deeper nesting is written at this depth. */
const deepest = 24;

/** The lists, items and quotes around the text, and the line prefixes for them. */
export function createContainers() {
  const open: Open[] = [];
  /** Containers beyond the deepest level, by kind: their ends must not end others. */
  const beyond = { list: 0, item: 0, quote: 0 };

  function push(container: Open): void {
    if (open.length >= deepest) beyond[container.kind] += 1;
    else open.push(container);
  }

  const restOf = (containers: readonly Open[]): string => containers.map(({ rest }) => rest).join("");

  return {
    openList(first: number | undefined): void {
      push({ kind: "list", first: "", rest: "", isFresh: false, ...(first === undefined ? {} : { next: first }) });
    },
    /** Whether its list has an earlier item. */
    openItem(given: string | undefined): boolean {
      const outer = open.findLast(({ kind }) => kind !== "item");
      const list = outer?.kind === "list" ? outer : undefined;
      const isNext = list?.hasItems === true;
      let marker = given ?? "- ";
      if (list !== undefined) {
        list.hasItems = true;
        if (given === undefined && list.next !== undefined) marker = `${list.next++}. `;
      }
      push({ kind: "item", first: marker, rest: " ".repeat(marker.length), isFresh: true });
      return isNext;
    },
    openQuote: (): void => push({ kind: "quote", first: "> ", rest: "> ", isFresh: true }),
    /** Ends the innermost one with its content. False if there is none. */
    close(kind: Container): boolean {
      if (beyond[kind] > 0) {
        beyond[kind] -= 1;
        return false;
      }
      const index = open.findLastIndex((container) => container.kind === kind);
      // Don't look for an item outside its list.
      if (index < 0 || (kind === "item" && open.slice(index).some((container) => container.kind === "list")))
        return false;
      open.length = index;
      return true;
    },
    /** The prefix of the next line with text. Markers are written once. */
    beforeText: (): string =>
      open
        .map((container) => {
          const text = container.isFresh ? container.first : container.rest;
          container.isFresh = false;
          return text;
        })
        .join(""),
    /** The prefix of a blank line before that: it belongs to the previous content. */
    beforeBlank(): string {
      const fresh = open.findIndex(({ isFresh }) => isFresh);
      return restOf(fresh < 0 ? open : open.slice(0, fresh)).trimEnd();
    },
    /** The prefix of a block's lines after its first. */
    beforeNext: (): string => restOf(open),
    /** Whether a marker is waiting for text. */
    hasFresh: (): boolean => open.some(({ isFresh }) => isFresh),
    isFreshItem: (): boolean => open.at(-1)?.kind === "item" && open.at(-1)?.isFresh === true,
    hasItem: (): boolean => open.some(({ kind }) => kind === "item"),
  };
}
