// The proxy of the scenarios, proxy.py, as a process.

import { spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';

export class Proxy {
  #process;
  #lines;

  constructor(scenarios, target) {
    this.#process = spawn('python3', [path.join(scenarios, 'proxy.py'), target], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = readline.createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async start() {
    this.address = (await this.#lines.next()).value.split(' ')[1];
    return this;
  }

  /** `lose_answer_to TEXT`, or `cut`. */
  async command(text) {
    this.#process.stdin.write(`${text}\n`);
    const { value } = await this.#lines.next();
    if (value !== 'ok') throw new Error(`the proxy answers ${value}`);
  }

  stop() {
    this.#process.stdin.end();
  }
}
