// A daemon for tests: on a temporary directory, on free ports of this machine.
//
//     import { start } from '@armaturedb/client/testing';
//     const daemon = await start();
//     const client = daemon.client();
//     ...
//     await daemon.stop();

import { ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Client } from './client';
import type { ClientOptions } from './options';
import { sleep } from './timers';

export interface StartOptions {
  /** Path of `armatured`. Default: the environment variable ARMATURED, then the one on the PATH. */
  binary?: string;
  /** Flags of the daemon, such as "--durability=os". */
  flags?: readonly string[];
  /** Data directory, which stays. Absent: a temporary one, which `stop` removes. */
  dataDir?: string;
  /** Address for gRPC. Default: a free port of 127.0.0.1. It stays the same over restarts. */
  listen?: string;
  /** Milliseconds until the daemon must serve. Default 30,000. */
  timeoutMs?: number;
  /** Milliseconds until the daemon must have ended after `stop` or `shutDown`; then it is killed. Default 30,000. */
  stopTimeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

interface Running {
  process: ChildProcess;
  exited: Promise<void>;
  address: string;
}

// True: the promise is fulfilled within the time.
async function isWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const waiting = new AbortController();
  const late = sleep(ms, waiting.signal).then(() => false, () => false);
  const isInTime = await Promise.race([promise.then(() => true), late]);
  waiting.abort();
  return isInTime;
}

async function run(options: StartOptions, dataDir: string, listen: string, held: Held): Promise<Running> {
  const binary = options.binary ?? process.env['ARMATURED'] ?? 'armatured';
  const flags = [`--data_dir=${dataDir}`, `--grpc_listen=${listen}`, '--http_listen=off', ...(options.flags ?? [])];
  const child = spawn(binary, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  held.child = child;
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4096)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const waiting = new AbortController();
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(why));
      child.on('error', (error) => fail(error.message));
      child.once('close', (code, signal) => fail(`has ended with ${code ?? signal}`));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const found = /^ready .*?grpc=(\S+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      sleep(options.timeoutMs ?? TIMEOUT_MS, waiting.signal).then(() => fail('does not serve in time'), () => undefined);
    });
    return { process: child, exited, address };
  } catch (error) {
    if (child.pid !== undefined) {
      child.kill('SIGKILL');
      await exited;
    }
    throw new Error(`${binary}: ${(error as Error).message}\n${errors}`);
  } finally {
    waiting.abort();
  }
}

/** Resources that end with this process: a daemon, from its start on, and its temporary directory. */
class Held {
  private static readonly all = new Set<Held>();
  child: ChildProcess | undefined;

  constructor(private readonly temporaryDir: string | undefined) {
    watchProcess();
    Held.all.add(this);
  }

  /** Removes the directory of a daemon that has ended. */
  async release(): Promise<void> {
    if (this.temporaryDir !== undefined) await rm(this.temporaryDir, { recursive: true, force: true });
    Held.all.delete(this);
  }

  /** Ends all daemons and removes their directories at once. */
  static abandonAll(): void {
    for (const { child, temporaryDir } of Held.all) {
      child?.kill('SIGKILL');
      if (temporaryDir !== undefined) rmSync(temporaryDir, { recursive: true, force: true, maxRetries: 5 });
    }
    Held.all.clear();
  }
}

let isWatched = false;

function watchProcess(): void {
  if (isWatched) return;
  isWatched = true;
  process.once('exit', () => Held.abandonAll());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      Held.abandonAll();
      process.kill(process.pid, signal); // with the effect that the signal has without this handler
    });
  }
}

/** A running daemon. */
export class TestDaemon {
  private readonly clients: Client[] = [];

  /** @internal */
  constructor(
    private readonly options: StartOptions,
    readonly dataDir: string,
    private readonly held: Held,
    private running: Running | undefined,
    /** Address for clients, such as "127.0.0.1:40213". */
    readonly address: string,
  ) {}

  /** A new client, which `stop` closes. */
  client(options?: ClientOptions): Client {
    const client = new Client(this.address, options);
    this.clients.push(client);
    return client;
  }

  /** Number of the daemon's process, or undefined if it does not run. */
  get pid(): number | undefined {
    return this.running?.process.pid;
  }

  /** Sends a signal to the daemon. */
  signal(name: NodeJS.Signals): void {
    this.running?.process.kill(name);
  }

  /** Ends the daemon as a crash does, and waits for its end. The data stay. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Starts the daemon again, after `kill`, with the same data and address. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    this.running = await run(this.options, this.dataDir, this.address, this.held);
  }

  /**
   * Ends the daemon cleanly, also one that a signal has stopped, and waits for its end. The data stay.
   *
   * @throws if the daemon had to be killed.
   */
  async shutDown(): Promise<void> {
    await this.end('SIGTERM');
  }

  /**
   * Closes all clients, ends the daemon like `shutDown`, and removes a temporary directory.
   *
   * @throws if the daemon had to be killed.
   */
  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    try {
      await this.end('SIGTERM');
    } finally {
      await this.held.release();
    }
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { running } = this;
    if (running === undefined) return;
    this.running = undefined;
    running.process.kill(signal);
    if (signal === 'SIGTERM') running.process.kill('SIGCONT'); // a test may have stopped the process
    if (await isWithin(running.exited, this.options.stopTimeoutMs ?? TIMEOUT_MS)) return;
    running.process.kill('SIGKILL');
    await running.exited;
    throw new Error('the daemon has not ended in time, and was killed');
  }
}

/** Starts a daemon and waits until it serves. */
export async function start(options: StartOptions = {}): Promise<TestDaemon> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'armature-test-'));
  const held = new Held(options.dataDir === undefined ? dataDir : undefined);
  try {
    const running = await run(options, dataDir, options.listen ?? '127.0.0.1:0', held);
    return new TestDaemon(options, dataDir, held, running, running.address);
  } catch (error) {
    await held.release();
    throw error;
  }
}
