import "./jitless.ts";
import { z } from "zod";

type Frozen<T> = T extends string | number | boolean | null | undefined
  ? T
  : unknown extends T
    ? T
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** What a schema describes, for those who only read or make it: nobody changes a message on its way. */
export type Wire<S extends z.core.$ZodType> = Frozen<z.core.output<S>>;

/* For what is sent: these schemas are for types and for documents, and no run of the program loads them. */
export { z };
