// A stream of all items of a table as of one moment.

import { Caller, deadlineOf } from './caller';
import { methods } from './generated/operations';
import type { ExportTableRequest, ExportTableResponse } from './generated/types';
import { encode } from './messages';
import type { CallOptions } from './options';
import { readStream } from './response-stream';

/** The messages of the stream. After an error the export must begin anew. */
export async function* exportTable(
  caller: Caller,
  request: ExportTableRequest,
  options: CallOptions = {},
): AsyncGenerator<ExportTableResponse, void> {
  const bytes = encode(methods.exportTable.request, request);
  const patienceMs = options.timeoutMs ?? caller.timeoutMs;
  const attempt = { deadline: deadlineOf(patienceMs), signal: options.signal };
  const limits = { deadline: Infinity, headers: options.metadata };
  const stream = await caller.connection.serverStream(methods.exportTable, bytes, attempt, limits);
  yield* readStream<ExportTableResponse>(caller.connection, methods.exportTable, stream, patienceMs, options.signal);
}
