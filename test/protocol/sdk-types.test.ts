import { expectTypeOf, test } from "vitest";
import type { Wire } from "../../src/protocol/droid/zod.ts";
import type { sdkTypes } from "../../src/protocol/sdk-types.ts";
import type {
  Block,
  ImageBlock,
  McpServerState,
  McpTool,
  Message,
  ModelInfo,
  PermissionCall,
  PermissionOption,
  Question,
  SessionSummary,
  Settings,
  StreamJsonEvent,
  TextBlock,
  TokenUsage,
  ToolInfo,
  ToolUseBlock,
  TurnError,
  TurnEvent,
  TurnResult,
} from "../../src/sdk/types.ts";

interface Written {
  TokenUsage: TokenUsage;
  TextBlock: TextBlock;
  ImageBlock: ImageBlock;
  ToolUseBlock: ToolUseBlock;
  Block: Block;
  Message: Message;
  Settings: Settings;
  McpServerState: McpServerState;
  McpTool: McpTool;
  TurnError: TurnError;
  TurnResult: TurnResult;
  TurnEvent: TurnEvent;
  StreamJsonEvent: StreamJsonEvent;
  PermissionCall: PermissionCall;
  PermissionOption: PermissionOption;
  Question: Question;
  ModelInfo: ModelInfo;
  ToolInfo: ToolInfo;
  SessionSummary: SessionSummary;
}

/** Removes the `undefined` that zod adds to optional fields. */
type Exact<T> = unknown extends T ? T : T extends object ? { [K in keyof T]: Exact<Exclude<T[K], undefined>> } : T;

type Sources = { [K in keyof typeof sdkTypes]: Exact<Wire<(typeof sdkTypes)[K]>> };

/** Stricter than mutual assignability, which ignores an extra optional field. */
type AreSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type Verdicts = { [K in keyof Sources]: K extends keyof Written ? AreSame<Written[K], Sources[K]> : "not written" };

test("the generated types match the schemas", () => {
  expectTypeOf<Verdicts>().toEqualTypeOf<Readonly<Record<keyof Sources, true>>>();
  expectTypeOf<keyof Written>().toEqualTypeOf<keyof Sources>();
});

test("the type comparison detects missing, mistyped, optional and mutable fields", () => {
  interface Same {
    readonly a: string;
    readonly b?: readonly { readonly c: number }[];
  }
  expectTypeOf<
    AreSame<Same, { readonly a: string; readonly b?: readonly { readonly c: number }[] }>
  >().toEqualTypeOf<true>();
  expectTypeOf<AreSame<Same, { readonly a: string }>>().toEqualTypeOf<false>();
  expectTypeOf<
    AreSame<Same, { readonly a: string; readonly b?: readonly { readonly c: string }[] }>
  >().toEqualTypeOf<false>();
  expectTypeOf<
    AreSame<Same, { readonly a: string; readonly b: readonly { readonly c: number }[] }>
  >().toEqualTypeOf<false>();
  expectTypeOf<AreSame<Same, { readonly a: string; readonly b?: readonly { c: number }[] }>>().toEqualTypeOf<false>();
});
