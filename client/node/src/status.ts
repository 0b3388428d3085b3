// Errors of gRPC to errors of the package.

import * as grpc from '@grpc/grpc-js';

import { explain } from './connecting';
import { ArmatureError, Code, ErrorParts, makeError, MessageTooLargeError } from './errors';
import { ErrorDetail, RpcStatus } from './generated/messages';
import type { ErrorDetail as Detail } from './generated/types';
import { decode, MessageType } from './messages';

// google.rpc.RetryInfo and google.rpc.ErrorInfo, as far as they are used.
const Duration = new MessageType('Duration');
Duration.define([
  [1, 'seconds', 'int64', 'one', true],
  [2, 'nanos', 'int32', 'one', true],
]);
const RetryInfo = new MessageType('RetryInfo');
RetryInfo.define([[1, 'retryDelay', Duration]]);
const ErrorInfo = new MessageType('ErrorInfo');
ErrorInfo.define([[1, 'reason', 'text', 'one', true]]);

interface AnyMessage {
  typeUrl: string;
  value: Uint8Array;
}

function delayOf(info: { retryDelay?: { seconds: number; nanos: number } }): number {
  return (info.retryDelay?.seconds ?? 0) * 1000 + Math.ceil((info.retryDelay?.nanos ?? 0) / 1e6);
}

/** Exceptions that can occur in the middle of a write. */
const AMBIGUOUS = new Set(['InternalServerError', 'ServiceUnavailable']);

/** The parts of an error that are in the details of a status. Details that cannot be read are left out. */
export function partsOfDetails(details: readonly AnyMessage[], textNumbers: boolean): Partial<ErrorParts> {
  const parts: Partial<ErrorParts> = {};
  for (const any of details) {
    const bytes = Buffer.from(any.value);
    if (any.typeUrl.endsWith('/armature.api.v1.ErrorDetail')) {
      const detail = decode(ErrorDetail, bytes, textNumbers) as Detail;
      Object.assign(parts, detail, {
        retryAfterMs: parts.retryAfterMs ?? (detail.retryAfterMs || undefined),
        requestId: detail.requestId || undefined,
      });
    } else if (any.typeUrl.endsWith('/google.rpc.RetryInfo')) {
      parts.retryAfterMs = Math.max(parts.retryAfterMs ?? 0, delayOf(decode(RetryInfo, bytes) as { retryDelay?: never }));
    } else if (any.typeUrl.endsWith('/google.rpc.ErrorInfo')) {
      parts.exception ??= (decode(ErrorInfo, bytes) as { reason: string }).reason;
    }
  }
  return parts;
}

function partsOfTrailers(metadata: grpc.Metadata, textNumbers: boolean): Partial<ErrorParts> {
  let parts: Partial<ErrorParts> = {};
  const [status] = metadata.get('grpc-status-details-bin');
  if (Buffer.isBuffer(status)) {
    try {
      parts = partsOfDetails((decode(RpcStatus, status) as { details: AnyMessage[] }).details, textNumbers);
    } catch {
      // A proxy may damage the trailer. The code and the message remain.
    }
  }
  const [exception] = metadata.get('x-armature-exception');
  if (typeof exception === 'string') parts.exception ??= exception;
  return parts;
}

function codeName(code: number): Code {
  return (grpc.status[code] ?? 'UNKNOWN') as Code;
}

// gRPC's text for a response above the limit.
const TOO_LARGE = /message (length )?larger than max/i;

// gRPC fails a call with these before it sends anything.
const NEVER_SENT = /^(No connection established|Name resolution failed)/;

/** The daemon has certainly not carried out a call that it answered with this code and exception. */
function isRefusal(code: Code, exception: string | undefined, isBatch: boolean): boolean {
  if (code === 'UNIMPLEMENTED') return true; // an older daemon, which does not have the operation
  if (exception === undefined || AMBIGUOUS.has(exception)) return false;
  // The error of one write of a batch: the others may be done.
  return !(isBatch && exception === 'ItemCollectionSizeLimitExceededException');
}

/** The error of a failed call to an address. `isBatch`: the call is a batch of writes. */
export function errorOfStatus(
  status: grpc.StatusObject | grpc.ServiceError,
  address: string,
  isBatch: boolean,
  textNumbers: boolean,
): ArmatureError {
  const parts = partsOfTrailers(status.metadata ?? new grpc.Metadata(), textNumbers);
  // The program's own cancellations do not come here: the other side has closed the stream.
  const isLost = status.code === grpc.status.CANCELLED && parts.exception === undefined;
  const code = isLost ? 'UNAVAILABLE' : codeName(status.code);
  const neverSent = code === 'UNAVAILABLE' && NEVER_SENT.test(status.details);
  if (code === 'RESOURCE_EXHAUSTED' && parts.exception === undefined && TOO_LARGE.test(status.details)) {
    return new MessageTooLargeError(status.details, { code });
  }
  if (neverSent) {
    const { reason, isLasting } = explain(status.details, address);
    return makeError(reason, { ...parts, code, notApplied: true, isLasting });
  }
  return makeError(status.details || code, { ...parts, code, notApplied: isRefusal(code, parts.exception, isBatch) });
}

/** The error of an operation of a pipeline: an RpcStatus in a response. */
export function errorOfRpcStatus(
  status: { code: number; message: string; details: AnyMessage[] },
  isBatch: boolean,
  textNumbers: boolean,
): ArmatureError {
  const parts = partsOfDetails(status.details, textNumbers);
  const code = codeName(status.code);
  return makeError(status.message, { ...parts, code, notApplied: isRefusal(code, parts.exception, isBatch) });
}
