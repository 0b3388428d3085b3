// Errors of the package.
//
//   ArmatureError                      every error of a call
//   +- ConditionalCheckFailedException and the other exceptions of the API
//   +- OutcomeUnknownError             a write that may have been applied or not
//   +- BatchWriteError                 writes of a batch writer that are not done
//   +- DeadlineExceededError, UnavailableError
//   +- MessageTooLargeError
//   +- InvalidArgumentError            refused by the package; nothing was sent

import type { CancellationReason, ThrottlingReason } from './generated/types';
import type { Item, ItemInput } from './values';

/** Names of the gRPC codes. */
export type Code =
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS'
  | 'UNAUTHENTICATED';

/** Parts of an error beside its message. */
export interface ErrorParts {
  code: Code;
  /** Name of the exception of the API, such as "ValidationException". Absent: the error is not the daemon's. */
  exception?: string;
  item?: Item;
  itemOmitted?: boolean;
  cancellationReasons?: CancellationReason[];
  throttlingReasons?: ThrottlingReason[];
  /** Milliseconds before a repeat may succeed. */
  retryAfterMs?: number;
  requestId?: string;
  /** True: the call has certainly changed nothing. */
  notApplied?: boolean;
  isLasting?: boolean;
  cause?: unknown;
}

/** An error of a call. `name` is the exception of the API, or the class for errors of the package. */
export class ArmatureError extends Error {
  readonly code: Code;
  readonly exception: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Identifies the call in the daemon's log. */
  readonly requestId: string | undefined;
  readonly throttlingReasons: readonly ThrottlingReason[];
  /**
   * True: the call has certainly changed nothing: each of its attempts was never sent, or was refused by the daemon.
   * False: it may have been applied.
   */
  readonly notApplied: boolean;
  /** Number of attempts that were made. */
  attempts = 1;
  /** The client's own knowledge beside the daemon's text, such as the table: the end of `message`, in parentheses. */
  hint = '';
  /** @internal A repeat would fail in the same way. */
  readonly isLasting: boolean;

  constructor(message: string, parts: ErrorParts) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = parts.exception ?? new.target.name;
    this.code = parts.code;
    this.exception = parts.exception;
    this.retryAfterMs = parts.retryAfterMs;
    this.requestId = parts.requestId;
    this.throttlingReasons = parts.throttlingReasons ?? [];
    this.notApplied = parts.notApplied ?? false;
    this.isLasting = parts.isLasting ?? false;
  }

  /** @internal */
  addHint(hint: string): void {
    if (hint === '' || this.hint !== '') return;
    this.hint = hint;
    this.message += ` (${hint})`;
  }
}

/** The package has refused the arguments. Nothing was sent. */
export class InvalidArgumentError extends ArmatureError {
  constructor(message: string) {
    super(message, { code: 'INVALID_ARGUMENT', notApplied: true });
  }
}

/** A request or a response is larger than the limit on messages. A request was not sent. */
export class MessageTooLargeError extends ArmatureError {}

/**
 * A write may have been applied or not: its answer was lost or did not arrive in time, and it was not repeated, or the
 * repeats failed. `cause` is the reason. Read the item to learn the outcome.
 */
export class OutcomeUnknownError extends ArmatureError {
  declare readonly cause: ArmatureError;

  constructor(
    cause: ArmatureError,
    /** True: the program may repeat the write, whatever its outcome is. */
    readonly isSafeToRepeat: boolean,
  ) {
    super(`the write may have been applied or not: ${cause.message}`, { code: cause.code, requestId: cause.requestId, cause });
    this.attempts = cause.attempts;
  }
}

/** A write that a batch writer has not done, and the reason. */
export interface FailedWrite {
  readonly table: string;
  /** The item of a put. */
  readonly item?: ItemInput;
  /** The key of a delete. */
  readonly key?: ItemInput;
  readonly error: ArmatureError;
}

/** A batch writer has not done these writes, because the daemon refuses them for good. All others are done. */
export class BatchWriteError extends ArmatureError {
  constructor(
    /** At most 1,000; BatchWriterOptions.dropped gets all. */
    readonly failed: readonly FailedWrite[],
    count: number,
  ) {
    const { error } = failed[0]!;
    super(`${count} writes were refused, the first one because: ${error.message}`, { code: error.code, notApplied: true, cause: error });
  }
}

/** The deadline has passed. */
export class DeadlineExceededError extends ArmatureError {}

/** No daemon was reached, or it has stopped. */
export class UnavailableError extends ArmatureError {}

/** The condition of a write is false. The write has changed nothing. */
export class ConditionalCheckFailedException extends ArmatureError {
  /** The item that failed the condition: if the write asked for it, and if there was one. */
  readonly item: Item | undefined;
  /** The item is too large for an error: read it with getItem. */
  readonly itemOmitted: boolean;

  constructor(message: string, parts: ErrorParts) {
    super(message, parts);
    this.item = parts.item;
    this.itemOmitted = parts.itemOmitted ?? false;
  }
}

/** A transaction has changed nothing, for the reasons of its actions. */
export class TransactionCanceledException extends ArmatureError {
  /** One for each action, in the order of the request. */
  readonly reasons: readonly CancellationReason[];

  constructor(message: string, parts: ErrorParts) {
    super(message, parts);
    this.reasons = parts.cancellationReasons ?? [];
  }
}

/** Too many requests, for the daemon or for the settings of the table. The package has repeated the call before. */
export class ThrottlingError extends ArmatureError {}
export class ProvisionedThroughputExceededException extends ThrottlingError {}
export class ThrottlingException extends ThrottlingError {}
export class RequestLimitExceeded extends ThrottlingError {}

export class ValidationException extends ArmatureError {}
export class SerializationException extends ValidationException {}

/** A table, index, backup, export or import does not exist. */
export class NotFoundError extends ArmatureError {}
export class ResourceNotFoundException extends NotFoundError {}

export class ResourceInUseException extends ArmatureError {}
export class LimitExceededException extends ArmatureError {}
export class ItemCollectionSizeLimitExceededException extends ArmatureError {}
export class TransactionConflictException extends ArmatureError {}
export class TransactionInProgressException extends ArmatureError {}
export class IdempotentParameterMismatchException extends ArmatureError {}
export class DuplicateItemException extends ArmatureError {}
export class TrimmedDataAccessException extends ArmatureError {}
export class AccessDeniedException extends ArmatureError {}

/** The daemon does not know the caller: no credentials, or wrong ones. */
export class UnauthenticatedError extends ArmatureError {}

type ErrorClass = new (message: string, parts: ErrorParts) => ArmatureError;

const BY_EXCEPTION = new Map<string, ErrorClass>(
  Object.entries({
    ConditionalCheckFailedException,
    TransactionCanceledException,
    ProvisionedThroughputExceededException,
    ThrottlingException,
    RequestLimitExceeded,
    ValidationException,
    SerializationException,
    ResourceNotFoundException,
    ResourceInUseException,
    LimitExceededException,
    ItemCollectionSizeLimitExceededException,
    TransactionConflictException,
    TransactionInProgressException,
    IdempotentParameterMismatchException,
    DuplicateItemException,
    TrimmedDataAccessException,
    AccessDeniedException,
  }),
);

const BY_CODE = new Map<Code, ErrorClass>([
  ['DEADLINE_EXCEEDED', DeadlineExceededError],
  ['UNAVAILABLE', UnavailableError],
  ['NOT_FOUND', NotFoundError],
  ['UNAUTHENTICATED', UnauthenticatedError],
]);

/** The error of the class for its exception, or else for its code. */
export function makeError(message: string, parts: ErrorParts): ArmatureError {
  const byName = parts.exception === undefined ? undefined : BY_EXCEPTION.get(parts.exception);
  const chosen = byName ?? BY_CODE.get(parts.code) ?? ArmatureError;
  return new chosen(message, parts);
}
