// Channels to the daemon. One channel for each address; the calls use one of them until it fails.

import * as grpc from '@grpc/grpc-js';

import { ArmatureError, DeadlineExceededError, InvalidArgumentError } from './errors';
import { Schemas } from './hints';
import { decode, MessageType } from './messages';
import { checkMembers } from './known';
import { CLIENT_NAMES, ClientOptions, TLS_NAMES, TlsOptions } from './options';
import { errorOfStatus } from './status';

/** An operation of the API. */
export interface Method {
  readonly name: string;
  readonly path: string;
  /** 'idempotent': a write whose repeat has the same effect. */
  readonly effect: 'read' | 'idempotent' | 'write';
  readonly request: MessageType;
  readonly response: MessageType;
}

/** The settings of one attempt. */
export interface Attempt {
  /** Milliseconds since 1970, or Infinity. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const RECONNECT_INITIAL_MS = 50;
const RECONNECT_MAX_MS = 1000;
const STATE_WAIT_MS = 250; // longest wait for one change of state
const RECEIVE_BYTES_MAX = 64 * 1024 * 1024;

const READY = grpc.connectivityState.READY;
const FAILED = grpc.connectivityState.TRANSIENT_FAILURE;

const sameBytes = (bytes: Buffer): Buffer => bytes;

/** @throws InvalidArgumentError for a text that is no PEM, such as the name of a file: TLS would fail with every call, and not tell why. */
function pem(name: string, text: string | Buffer | undefined): Buffer | null {
  if (text === undefined) return null;
  if ((typeof text !== 'string' && !(text instanceof Uint8Array)) || !text.includes('-----BEGIN ')) {
    throw new InvalidArgumentError(`tls.${name} is the content of a PEM file, such as fs.readFileSync('${name}.pem')`);
  }
  return Buffer.from(text);
}

/** @throws InvalidArgumentError for an address that could never be reached. */
function checkAddress(address: unknown): void {
  if (typeof address !== 'string') throw new InvalidArgumentError('an address is a text such as "localhost:7700"');
  if (address === '') throw new InvalidArgumentError('the address is empty');
  if (/^https?:/i.test(address)) throw new InvalidArgumentError(`the address ${address} is one of HTTP: give "host:port" of gRPC, such as "localhost:7700"`);
  // Names with a scheme, such as "dns:///host", are those of gRPC, whose port is 443 by default.
  const plain = /^(?:\[[^\]]*\]|[^:/]*)(?::(\d*))?$/.exec(address);
  if (plain !== null && !(Number(plain[1]) >= 1 && Number(plain[1]) <= 65535)) {
    throw new InvalidArgumentError(`the address ${address} has no port: give "host:port", such as "localhost:7700"`);
  }
}

function credentialsOf(tls: TlsOptions | boolean | undefined): grpc.ChannelCredentials {
  if (tls === undefined || tls === false) return grpc.credentials.createInsecure();
  checkMembers('the options of tls', tls === true ? {} : tls, TLS_NAMES);
  const { ca, cert, key } = tls === true ? ({} as TlsOptions) : tls;
  if ((cert === undefined) !== (key === undefined)) {
    throw new InvalidArgumentError('a certificate of the client and its key come together');
  }
  return grpc.credentials.createSsl(pem('ca', ca), pem('key', key), pem('cert', cert));
}

function metadataOf(options: ClientOptions, addresses: readonly string[]): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
  if (options.accessKey !== undefined) {
    const { id, secret } = options.accessKey;
    if (id === '' || secret === '') throw new InvalidArgumentError('an access key has an id and a secret');
    if (!options.tls && !addresses.every((address) => address.startsWith('unix:'))) {
      throw new InvalidArgumentError('the secret of the access key would be sent in clear text: use TLS');
    }
    metadata.set('authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`);
  }
  return metadata;
}

/** Calls a daemon at one of several addresses. */
export class Connection {
  readonly schemas = new Schemas();
  private readonly clients: grpc.Client[];
  private readonly metadata: grpc.Metadata;
  private readonly textNumbers: boolean;
  private current = 0;
  private isClosed = false;

  constructor(
    readonly addresses: readonly string[],
    options: ClientOptions,
  ) {
    if (addresses.length === 0) throw new InvalidArgumentError('the address is empty');
    addresses.forEach(checkAddress);
    checkMembers('the options of a client', options, CLIENT_NAMES);
    this.metadata = metadataOf(options, addresses);
    this.textNumbers = options.numbers === 'text';
    const serverName = typeof options.tls === 'object' ? options.tls.serverName : undefined;
    const channelOptions: grpc.ClientOptions = {
      'grpc.max_receive_message_length': options.receiveBytesMax ?? RECEIVE_BYTES_MAX,
      'grpc.initial_reconnect_backoff_ms': RECONNECT_INITIAL_MS,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
      'grpc.service_config_disable_resolution': 1,
      'grpc.use_local_subchannel_pool': 1,
      // The client repeats calls, because it knows which calls may be repeated.
      'grpc.enable_retries': 0,
      ...(serverName === undefined
        ? {}
        : { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName }),
    };
    const credentials = credentialsOf(options.tls);
    this.clients = addresses.map((address) => new grpc.Client(address, credentials, channelOptions));
  }

  get address(): string {
    return this.addresses[this.current]!;
  }

  close(): void {
    this.isClosed = true;
    for (const client of this.clients) client.close();
  }

  private stateOf(client: grpc.Client): grpc.connectivityState {
    return client.getChannel().getConnectivityState(true);
  }

  /**
   * The channel for a call: connected if one of the addresses can be reached. A channel that has failed is given if all
   * have: a call on it fails at once, with the reason, and is never sent.
   */
  private async connected(attempt: Attempt): Promise<grpc.Client> {
    let tried = 0;
    for (;;) {
      const client = this.clients[this.current]!;
      const state = this.stateOf(client);
      if (state === READY) return client;
      if (state === FAILED) {
        if (++tried >= this.clients.length) return client;
        this.current = (this.current + 1) % this.clients.length;
        continue;
      }
      attempt.signal?.throwIfAborted();
      if (this.isClosed) throw new InvalidArgumentError('the client is closed');
      if (Date.now() >= attempt.deadline) {
        const parts = { code: 'DEADLINE_EXCEEDED', notApplied: true } as const;
        throw new DeadlineExceededError(`${this.address} does not answer a connection in time`, parts);
      }
      const until = Math.min(attempt.deadline, Date.now() + STATE_WAIT_MS);
      await new Promise<void>((resolve) => {
        client.getChannel().watchConnectivityState(state, until, () => resolve());
      });
    }
  }

  private channel(attempt: Attempt): grpc.Client | Promise<grpc.Client> {
    if (this.isClosed) throw new InvalidArgumentError('the client is closed');
    const client = this.clients[this.current]!;
    // Asking without the wish to connect costs nothing.
    return client.getChannel().getConnectivityState(false) === READY ? client : this.connected(attempt);
  }

  private headers(added: Readonly<Record<string, string>> | undefined): grpc.Metadata {
    if (added === undefined) return this.metadata;
    const metadata = this.metadata.clone();
    for (const name in added) metadata.set(name, added[name]!);
    return metadata;
  }

  private options(attempt: Attempt): grpc.CallOptions {
    return attempt.deadline === Infinity ? {} : { deadline: attempt.deadline };
  }

  /** Makes one attempt of a call. `bytes`: the encoded request. May throw at once. */
  unary(method: Method, bytes: Buffer, attempt: Attempt): Promise<unknown> {
    const found = this.channel(attempt);
    if (found instanceof grpc.Client) return this.unaryOn(found, method, bytes, attempt);
    return found.then((client) => this.unaryOn(client, method, bytes, attempt));
  }

  private unaryOn(client: grpc.Client, method: Method, bytes: Buffer, attempt: Attempt): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal } = attempt;
      signal?.throwIfAborted();
      const read = (answer: Buffer): unknown => decode(method.response, answer, this.textNumbers);
      let abort: (() => void) | undefined;
      const call = client.makeUnaryRequest(
        method.path, sameBytes, read, bytes, this.headers(attempt.headers), this.options(attempt),
        (error: grpc.ServiceError | null, answer: unknown) => {
          if (abort !== undefined) signal?.removeEventListener('abort', abort);
          if (error === null) resolve(answer);
          else reject(signal?.aborted === true ? signal.reason : this.errorOf(error, method));
        },
      );
      if (signal !== undefined) {
        abort = () => call.cancel();
        signal.addEventListener('abort', abort, { once: true });
      }
    });
  }

  /** A call that is answered by a stream of messages. */
  async serverStream(method: Method, bytes: Buffer, attempt: Attempt, limits: Attempt): Promise<grpc.ClientReadableStream<unknown>> {
    const client = await this.channel(attempt);
    const read = (answer: Buffer): unknown => decode(method.response, answer, this.textNumbers);
    return client.makeServerStreamRequest(method.path, sameBytes, read, bytes, this.headers(limits.headers), this.options(limits));
  }

  /** A call with streams of encoded messages in both directions. */
  async bidiStream(method: Method, attempt: Attempt, limits: Attempt): Promise<grpc.ClientDuplexStream<Buffer, unknown>> {
    const client = await this.channel(attempt);
    const read = (answer: Buffer): unknown => decode(method.response, answer, this.textNumbers);
    return client.makeBidiStreamRequest(method.path, sameBytes, read, this.headers(limits.headers), this.options(limits));
  }

  errorOf(error: unknown, method: Method): ArmatureError {
    const isBatch = method.name === 'BatchWriteItem';
    return errorOfStatus(error as grpc.ServiceError, this.address, isBatch, this.textNumbers);
  }

  get readsTextNumbers(): boolean {
    return this.textNumbers;
  }
}
