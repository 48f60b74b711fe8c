import type { InteractiveNotification } from "../../protocol/interactive.ts";
import { jsonRpcVersion } from "../../protocol/interactive.ts";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A client's own: whatever JSON value it sent comes back with the answer. */
export type RequestId = unknown;

export function resultFrame(id: RequestId, result: unknown): string {
  return JSON.stringify({ jsonrpc: jsonRpcVersion, id, result });
}

export function errorFrame(id: RequestId, error: RpcError): string {
  return JSON.stringify({ jsonrpc: jsonRpcVersion, id, error });
}

export function notificationFrame({ method, params }: InteractiveNotification): string {
  return JSON.stringify({ jsonrpc: jsonRpcVersion, method, params });
}
