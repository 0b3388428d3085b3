// Errors of the package as the types of scenarios.

import * as armature from '@armaturedb/client';

import { equal, toNative } from './values.mjs';

// The first class that matches gives the type.
const TYPES = [
  [armature.InvalidArgumentError, 'invalid_argument'],
  [armature.BatchWriteError, 'batch_failed'],
  [armature.OutcomeUnknownError, 'outcome_unknown'],
  [armature.ConditionalCheckFailedException, 'condition_failed'],
  [armature.TransactionCanceledException, 'transaction_cancelled'],
  [armature.TransactionConflictException, 'transaction_conflict'],
  [armature.IdempotentParameterMismatchException, 'token_reused'],
  [armature.ValidationException, 'validation'],
  [armature.NotFoundError, 'not_found'],
  [armature.ResourceInUseException, 'in_use'],
  [armature.DuplicateItemException, 'duplicate_item'],
  [armature.ThrottlingError, 'throttled'],
  [armature.LimitExceededException, 'limit_exceeded'],
  [armature.MessageTooLargeError, 'limit_exceeded'],
  [armature.AccessDeniedException, 'access_denied'],
  [armature.UnauthenticatedError, 'unauthenticated'],
  [armature.TrimmedDataAccessException, 'trimmed'],
  [armature.DeadlineExceededError, 'deadline'],
  [armature.UnavailableError, 'unavailable'],
];

export function typeOf(error) {
  const type = TYPES.find(([type]) => error instanceof type)?.[1];
  // The package has no class for what a daemon does not serve.
  return type ?? (error.code === 'UNIMPLEMENTED' ? 'unsupported' : `${error.name}: ${error.message}`);
}

/** The difference between an error and the expected one; undefined if there is none. */
export function mismatch(error, wanted) {
  if (error === undefined) return `no error, expected ${wanted.type}`;
  const actual = {
    type: typeOf(error),
    exception: error.exception,
    item: error.item ?? null,
    reasons: error.reasons?.map(({ code }) => code),
    failed: error.failed?.map(({ item, key }) => item ?? key),
    reason_items: error.reasons?.map(({ item }) => item ?? null),
  };
  for (const [name, value] of Object.entries(wanted)) {
    const same = name === 'message' ? error.message.includes(value) : equal(actual[name], toNative(value), name !== 'failed');
    if (!same) return { [name]: name === 'message' ? error.message : actual[name], expected: value, error };
  }
  return undefined;
}
