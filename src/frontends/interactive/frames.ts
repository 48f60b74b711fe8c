import type { InteractiveNotification } from "../../protocol/interactive.ts";
import { jsonRpcVersion } from "../../protocol/interactive.ts";
import type { RequestId } from "./request-id.ts";

const beginning = `{"jsonrpc":${JSON.stringify(jsonRpcVersion)},"id":`;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export function resultFrame(id: RequestId, result: unknown): string {
  return `${beginning}${id},"result":${JSON.stringify(result)}}`;
}

export function errorFrame(id: RequestId, error: RpcError): string {
  return `${beginning}${id},"error":${JSON.stringify(error)}}`;
}

export function notificationFrame({ method, params }: InteractiveNotification): string {
  return JSON.stringify({ jsonrpc: jsonRpcVersion, method, params });
}
