import "./jitless.ts";
import { z } from "zod";

type Frozen<T> = T extends string | number | boolean | null | undefined
  ? T
  : unknown extends T
    ? T
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** A schema's type, deeply readonly, because messages are never modified. */
export type Wire<S extends z.core.$ZodType> = Frozen<z.core.output<S>>;

/* For schemas of sent messages, which are used only for types and documents and never loaded at run time. */
export { z };
