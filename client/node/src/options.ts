// Settings of a client and of a single call.

import type { Names } from './known';
import type { Observer } from './observer';
import type { RetryOptions } from './retry';

/** Certificates, as PEM. */
export interface TlsOptions {
  /** Authorities that sign the daemon's certificate. Absent: those of Node.js. */
  ca?: string | Buffer;
  /** Certificate of the client, then its intermediates; together with `key`. */
  cert?: string | Buffer;
  /** Private key of `cert`. */
  key?: string | Buffer;
  /** Name in the daemon's certificate, if it is not the host of the address. */
  serverName?: string;
}

/** An access key of the daemon's credentials file. It needs TLS or a Unix socket. */
export interface AccessKey {
  id: string;
  secret: string;
}

export interface ClientOptions {
  /** Milliseconds for a call with all its attempts. Default 10,000. */
  timeoutMs?: number;
  /** Repeats of failed calls; false: none. */
  retry?: RetryOptions | false;
  /** true: TLS with the authorities of Node.js. Absent: no encryption. */
  tls?: TlsOptions | boolean;
  accessKey?: AccessKey;
  /**
   * Type of numbers in items that are read. 'exact' (default): `number` where it is exact, `bigint` for other integers,
   * NumberValue for other fractions. 'text': always NumberValue.
   */
  numbers?: 'exact' | 'text';
  /** Sent with every call. */
  metadata?: Readonly<Record<string, string>>;
  /** Watch all calls: see `@armaturedb/client/opentelemetry`. */
  observers?: readonly Observer[];
  /** Maximum size in bytes of a response. Default 64 MiB. */
  receiveBytesMax?: number;
}

export interface CallOptions {
  /** Milliseconds for the call with all its attempts. Default: that of the client. Infinity: no deadline. */
  timeoutMs?: number;
  /** Ends the call, which then fails with the signal's reason. A write may have been applied. */
  signal?: AbortSignal;
  /** True: the call may be repeated although it is a write, such as an update that only sets constants. */
  idempotent?: boolean;
  /** Sent with this call. */
  metadata?: Readonly<Record<string, string>>;
}

export const TLS_NAMES: Names<TlsOptions> = { ca: true, cert: true, key: true, serverName: true };

export const CLIENT_NAMES: Names<ClientOptions> = {
  timeoutMs: true, retry: true, tls: true, accessKey: true, numbers: true, metadata: true, observers: true, receiveBytesMax: true,
};

export const CALL_NAMES: Names<CallOptions> = { timeoutMs: true, signal: true, idempotent: true, metadata: true };
