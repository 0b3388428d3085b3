// Runs the scenarios of tests/clients/scenarios through the package.
//
//   node scenarios/run.mjs --scenarios=DIRECTORY [--armatured=BINARY] [--only=TEXT] [--times]
//
// The daemon is that of --armatured, or else of the environment variable ARMATURED. Prints a line for each failure, and a
// summary. Exits with 1 if a scenario fails.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, inspect } from 'node:util';

import { Client } from '@armaturedb/client';
import { start } from '@armaturedb/client/testing';
import { parse } from 'yaml';

import { mismatch } from './errors.mjs';
import { OPERATIONS } from './operations.mjs';
import { Proxy } from './proxy.mjs';
import { createTable, deleteTables } from './tables.mjs';
import { equal, toNative, withNumbers } from './values.mjs';

const UNTIL_MS = 20_000;
const OTHER_ADDRESSES = { dead: '127.0.0.1:1', unresolved: 'nothing.invalid:7700' }; // nobody listens on port 1
const STEP_MEMBERS = new Set(['with', 'timeout', 'expect', 'unordered', 'error', 'repeat', 'until']);

const { values: flags } = parseArgs({
  options: { scenarios: { type: 'string' }, armatured: { type: 'string' }, only: { type: 'string' }, times: { type: 'boolean' } },
});
const binary = flags.armatured ?? process.env.ARMATURED;
const directory = flags.scenarios ?? new URL('../../../tests/clients/scenarios', import.meta.url).pathname;
const load = (name) => withNumbers(parse(fs.readFileSync(path.join(directory, name), 'utf8'), { intAsBigInt: true }));
const definitions = load('tables.yaml');

const nothing = () => null;

let certificates; // made when a scenario needs them

function certificateFile(name) {
  if (certificates === undefined) {
    certificates = fs.mkdtempSync(path.join(os.tmpdir(), 'armature-certificates-'));
    const made = spawnSync(path.join(directory, 'certificates'), [certificates], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`certificates: ${made.stderr}`);
  }
  return path.join(certificates, name);
}

function daemonFlags({ tls, client_certificates: asksCertificates, credentials, flags: others = [] }) {
  return [
    ...(tls ? [`--tls_cert=${certificateFile('server.pem')}`, `--tls_key=${certificateFile('server.key')}`] : []),
    ...(asksCertificates ? [`--tls_client_ca=${certificateFile('ca.pem')}`] : []),
    ...(credentials ? [`--credentials_file=${certificateFile('credentials.json')}`] : []),
    ...others,
  ];
}

// The daemon, the clients and the memory of one scenario.
class Scenario {
  watches = new Map();
  lastKey = undefined;
  #clients = new Map();
  #opened = [];

  constructor(scenario, shared) {
    this.scenario = scenario;
    this.shared = shared;
  }

  async open() {
    const { daemon, clients = {}, tables = [] } = this.scenario;
    this.daemon = daemon === undefined ? this.shared : await start({ binary, flags: daemonFlags(daemon ?? {}) });
    if (Object.values(clients).some(({ proxy }) => proxy)) this.proxy = await new Proxy(directory, this.daemon.address).start();
    // Tables are made by a client with all rights.
    this.admin = this.#connect(this.#adminOptions(daemon ?? {}));
    for (const table of tables) await createTable(this.admin, table, definitions[table]);
    for (const [name, options] of Object.entries({ default: {}, ...clients })) this.#clients.set(name, this.#connect(options));
  }

  async close() {
    for (const { watcher, records } of this.watches.values()) {
      watcher.cancel();
      await records.return().catch(() => undefined);
    }
    if (this.daemon === this.shared && this.admin !== undefined) await deleteTables(this.admin);
    for (const client of this.#opened) client.close();
    this.proxy?.stop();
    if (this.daemon !== undefined && this.daemon !== this.shared) {
      this.daemon.signal('SIGCONT');
      await this.daemon.stop();
    }
  }

  #adminOptions({ tls, credentials }) {
    return { ...(tls ? { tls } : {}), ...(credentials ? { access_key: ['writer', 'secret-of-the-writer'] } : {}) };
  }

  #connect(options) {
    const addresses = options.proxy ? [this.proxy.address]
      : (options.addresses ?? ['daemon']).map((name) => OTHER_ADDRESSES[name] ?? this.daemon.address);
    const read = (name) => fs.readFileSync(certificateFile(name));
    const certificate = options.certificate ? { cert: read('client.pem'), key: read('client.key') } : {};
    const client = new Client(addresses, {
      ...(options.retries === false ? { retry: false } : {}),
      ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }),
      ...(options.tls === 'system' ? { tls: true } : options.tls ? { tls: { ca: read('ca.pem'), ...certificate } } : {}),
      ...(options.access_key ? { accessKey: { id: options.access_key[0], secret: options.access_key[1] } } : {}),
    });
    this.#opened.push(client);
    return options.session ? client.session() : client;
  }

  client(name = 'default') {
    return this.#clients.get(name);
  }

  async #control(name, members) {
    if (name === 'proxy') {
      await this.proxy.command(members === 'cut' ? 'cut' : `lose_answer_to ${members.lose_answer_to}`);
    } else {
      const actions = {
        kill: () => this.daemon.kill(), stop: () => this.daemon.shutDown(), start: () => this.daemon.restart(),
        restart: () => this.daemon.restart(), pause: () => this.#pause(), continue: () => this.daemon.signal('SIGCONT'),
      };
      await actions[members]();
    }
    return null;
  }

  async #pause() {
    this.daemon.signal('SIGSTOP');
    const isStopped = () => /^State:\s+T/m.test(fs.readFileSync(`/proc/${this.daemon.pid}/status`, 'utf8'));
    while (!isStopped()) await new Promise((resolve) => setImmediate(resolve));
  }

  async #operation(name, members, step) {
    const client = this.client(step.with);
    const options = step.timeout === undefined ? {} : { timeoutMs: step.timeout * 1000 };
    if (name === 'daemon' || name === 'proxy') return this.#control(name, members);
    if (name === 'connect') return nothing(this.#connect(members));
    if (name === 'create_table') return createTable(client, members.table, definitions[members.like ?? members.table], options);
    if (name === 'delete_table') {
      await client.deleteTable({ tableName: members.table }, options);
      await client.waitForTableGone(members.table);
      return null;
    }
    if (OPERATIONS[name] === undefined) throw new Error(`the runner does not know the operation ${name}`);
    return OPERATIONS[name](client, members, options, this);
  }

  async #once(step) {
    const [name] = Object.keys(step).filter((member) => !STEP_MEMBERS.has(member));
    let result;
    let error;
    try {
      result = await this.#operation(name, step[name], step);
    } catch (thrown) {
      error = thrown;
    }
    if (step.error !== undefined) return mismatch(error, step.error);
    if (error !== undefined) return error;
    const isSame = !('expect' in step) || equal(toNative(step.expect), result ?? null, !step.unordered);
    return isSame ? undefined : { expected: toNative(step.expect), result };
  }

  async run() {
    for (const [number, step] of this.scenario.steps.entries()) {
      for (let i = 0; i < (step.repeat ?? 1); ++i) {
        const end = Date.now() + UNTIL_MS;
        let difference = await this.#once(step);
        while (difference !== undefined && step.until && Date.now() < end) difference = await this.#once(step);
        if (difference !== undefined) return { step: number + 1, difference };
      }
    }
    return undefined;
  }
}

async function runScenario(scenario, shared) {
  const run = new Scenario(scenario, shared);
  try {
    await run.open();
    return await run.run();
  } catch (error) {
    return { step: 0, difference: error };
  } finally {
    await run.close();
  }
}

const files = fs.readdirSync(directory).filter((name) => name.endsWith('.yaml') && name !== 'tables.yaml').sort();
const shared = await start({ binary, flags: ['--durability=os'] });
let passed = 0;
let failed = 0;

// Runs scenarios one after the other.
async function runLane(scenarios) {
  for (const [file, scenario] of scenarios) {
    const begin = Date.now();
    const failure = await runScenario(scenario, shared);
    if (flags.times) console.log(`${Date.now() - begin} ms ${file}: ${scenario.name}`);
    if (failure === undefined) {
      ++passed;
    } else {
      ++failed;
      console.log(`FAILED ${file}: ${scenario.name}: step ${failure.step}: ${inspect(failure.difference, { depth: 8 })}`);
    }
  }
}

try {
  const all = files.flatMap((file) => load(file).map((scenario) => [file, scenario]))
    .filter(([, { name }]) => flags.only === undefined || name.includes(flags.only));
  // Scenarios with a daemon of their own disturb nobody, and mostly wait.
  await Promise.all([
    runLane(all.filter(([, { daemon }]) => daemon === undefined)),
    runLane(all.filter(([, { daemon }]) => daemon !== undefined)),
  ]);
} finally {
  await shared.stop();
  if (certificates !== undefined) fs.rmSync(certificates, { recursive: true });
}
console.log(`scenarios: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
