// A proxy of TCP that loses the answer of one call, or cuts all connections.

import net from 'node:net';

const FRAME_HEAD = 9;
const DATA = 0;
const HEADERS = 1;
const END_STREAM = 1;

// True once the bytes of a daemon have an answer: a frame of the type DATA, or HEADERS that end a stream.
class Answers {
  #pending = Buffer.alloc(0);
  #skip = 0;

  feed(bytes) {
    let found = false;
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (;;) {
      const skipped = Math.min(this.#skip, this.#pending.length);
      this.#pending = this.#pending.subarray(skipped);
      this.#skip -= skipped;
      if (this.#skip > 0 || this.#pending.length < FRAME_HEAD) return found;
      const [type, flags] = [this.#pending[3], this.#pending[4]];
      found ||= type === DATA || (type === HEADERS && (flags & END_STREAM) !== 0);
      this.#skip = FRAME_HEAD + this.#pending.readUIntBE(0, 3);
    }
  }
}

export class Proxy {
  #target;
  #server;
  #sockets = new Set();
  #wanted;

  constructor(target) {
    this.#target = target;
    this.#server = net.createServer((client) => this.#connect(client));
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.address = `127.0.0.1:${this.#server.address().port}`;
    return this;
  }

  loseAnswerTo(text) {
    this.#wanted = Buffer.from(text);
  }

  cut() {
    for (const socket of this.#sockets) socket.destroy();
  }

  stop() {
    this.cut();
    this.#server.close();
  }

  #connect(client) {
    const [host, port] = this.#target.split(':');
    const daemon = net.connect(Number(port), host);
    const answers = new Answers();
    let tail = Buffer.alloc(0);
    let isLosing = false;
    for (const socket of [client, daemon]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        daemon.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (this.#wanted !== undefined) {
        tail = Buffer.concat([tail, bytes]);
        if (tail.includes(this.#wanted)) {
          this.#wanted = undefined;
          isLosing = true;
        } else {
          tail = tail.subarray(Math.max(0, tail.length - this.#wanted.length));
        }
      }
      daemon.write(bytes);
    });
    daemon.on('data', (bytes) => {
      const hasAnswer = answers.feed(bytes);
      if (!isLosing) client.write(bytes);
      else if (hasAnswer) client.destroy();
    });
  }
}
