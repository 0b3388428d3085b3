// Traces and metrics by OpenTelemetry. Needs the package `@opentelemetry/api`.
//
//     const client = new Client('localhost:7700', { observers: [openTelemetry()] });
//
// Each call is a span of the kind CLIENT with the attributes of the semantic conventions for databases, and a value of the
// histogram `db.client.operation.duration`. The context is sent to the daemon.

import * as otel from '@opentelemetry/api';

import { ArmatureError } from './errors';
import type { CallInfo, ObservedCall, Observer } from './observer';

export interface OpenTelemetryOptions {
  /** Default: the global one. */
  tracerProvider?: otel.TracerProvider;
  /** Default: the global one. */
  meterProvider?: otel.MeterProvider;
}

const SCOPE = '@armaturedb/client';
const BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

function attributesOf(info: CallInfo): otel.Attributes {
  const [host, port] = /^(?:[a-z]+:)?(.*):(\d+)$/.exec(info.address)?.slice(1) ?? [info.address];
  return {
    'db.system.name': 'armature',
    'db.operation.name': info.operation,
    ...(info.tables.length === 1 ? { 'db.collection.name': info.tables[0]! } : {}),
    ...(info.batchSize === undefined ? {} : { 'db.operation.batch.size': info.batchSize }),
    'server.address': host!,
    ...(port === undefined ? {} : { 'server.port': Number(port) }),
  };
}

function outcomeOf(error: unknown): otel.Attributes {
  if (error === undefined) return {};
  if (!(error instanceof ArmatureError)) return { 'error.type': error instanceof Error ? error.name : '_OTHER' };
  return { 'error.type': error.name, 'db.response.status_code': error.code };
}

/** An observer that makes spans and metrics of all calls. */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  const tracer = (options.tracerProvider ?? otel.trace).getTracer(SCOPE);
  const meter = (options.meterProvider ?? otel.metrics).getMeter(SCOPE);
  const duration = meter.createHistogram('db.client.operation.duration', {
    description: 'Duration of calls, with all their attempts.',
    unit: 's',
    advice: { explicitBucketBoundaries: BUCKETS_S },
  });
  return {
    started(info: CallInfo): ObservedCall {
      const attributes = attributesOf(info);
      const name = info.tables.length === 1 ? `${info.operation} ${info.tables[0]}` : info.operation;
      const span = tracer.startSpan(name, { kind: otel.SpanKind.CLIENT, attributes });
      const context = otel.trace.setSpan(otel.context.active(), span);
      const begin = performance.now();
      return {
        run(headers, call) {
          otel.propagation.inject(context, headers);
          return otel.context.with(context, call);
        },
        repeated(error, attempts) {
          span.addEvent('retry', { 'error.type': error.name, attempt: attempts });
        },
        ended(error, attempts) {
          const outcome = outcomeOf(error);
          if (attempts > 1) span.setAttribute('armature.attempts', attempts);
          span.setAttributes(outcome);
          if (error !== undefined) span.setStatus({ code: otel.SpanStatusCode.ERROR, message: String((error as Error).message) });
          span.end();
          duration.record((performance.now() - begin) / 1000, { ...attributes, ...outcome });
        },
      };
    },
  };
}
