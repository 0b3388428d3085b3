// The interface of those who watch calls, such as OpenTelemetry.

import type { ArmatureError } from './errors';

export interface CallInfo {
  /** Name of the operation, such as "PutItem". */
  readonly operation: string;
  /** Names of the tables, as far as the request names them. */
  readonly tables: readonly string[];
  /** Number of operations in a batch or a transaction. */
  readonly batchSize?: number;
  /** The address that is used, such as "localhost:7700". */
  readonly address: string;
}

/** One call with all its attempts. */
export interface ObservedCall {
  /** Runs the call; may set a context for it. `headers`: sent with the call; may be added to. */
  run?<T>(headers: Record<string, string>, call: () => T): T;
  /** Called before each repeat. */
  repeated?(error: ArmatureError, attempts: number): void;
  /** Called once at the end. `error` is undefined for a success. */
  ended(error: unknown, attempts: number): void;
}

/** Must not throw. */
export interface Observer {
  started(call: CallInfo): ObservedCall;
}
