#!/usr/bin/env python3
"""A proxy between clients and a daemon, which loses an answer on request.

    proxy.py HOST:PORT

Prints `ready HOST:PORT`, its own address. Then it reads commands, one a line, and answers each with `ok` when it has taken effect:

    lose_answer_to TEXT   waits for the text in the bytes of a client, forwards them, discards the answers of that
                          connection up to and with the next answer of the daemon, and closes the connection. Once.
    cut                   closes all connections

It ends with its standard input. Only connections without TLS.
"""

import selectors
import socket
import sys
import threading

CHUNK_BYTES = 1 << 16
FRAME_HEAD_BYTES = 9
DATA = 0
HEADERS = 1
END_STREAM = 1


class Answers:
    """Finds an answer in the bytes of a daemon: a frame of HTTP/2 with data, or one that ends a call."""

    def __init__(self):
        self._bytes = bytearray()
        self.seen = False

    def feed(self, chunk):
        self._bytes += chunk
        while len(self._bytes) >= FRAME_HEAD_BYTES:
            length = int.from_bytes(self._bytes[:3], "big")
            kind, flags = self._bytes[3], self._bytes[4]
            if len(self._bytes) < FRAME_HEAD_BYTES + length:
                return
            del self._bytes[: FRAME_HEAD_BYTES + length]
            if (kind == DATA and length > 0) or (kind == HEADERS and flags & END_STREAM):
                self.seen = True


class Proxy:
    def __init__(self, daemon):
        host, port = daemon.rsplit(":", 1)
        self._daemon = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._open = set()
        self._text = None  # whose answer is to be lost

    def lose_answer_to(self, text):
        with self._lock:
            self._text = text.encode()

    def cut(self):
        with self._lock:
            for one in self._open:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # closed already

    def serve(self):
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _connection(self, client):
        with client:
            try:
                daemon = socket.create_connection(self._daemon)
            except OSError:
                return
            with daemon:
                for one in (client, daemon):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._open |= {client, daemon}
                try:
                    self._forward(client, daemon)
                except OSError:
                    pass  # one side is gone
                finally:
                    with self._lock:
                        self._open -= {client, daemon}

    def _take_text(self, sent):
        """True if the text stands in these bytes. It counts once."""
        with self._lock:
            if self._text is None or self._text not in sent:
                return False
            self._text = None
            return True

    def _forward(self, client, daemon):
        tail = b""
        losing = False
        frames = Answers()
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            selector.register(daemon, selectors.EVENT_READ)
            while not (losing and frames.seen):
                for key, _ in selector.select():
                    chunk = key.fileobj.recv(CHUNK_BYTES)
                    if not chunk:
                        return
                    if key.fileobj is client:
                        if not losing and self._take_text(tail + chunk):
                            losing = True
                            frames.seen = False
                        tail = (tail + chunk)[-CHUNK_BYTES:]
                        daemon.sendall(chunk)
                    else:
                        frames.feed(chunk)
                        if not losing:
                            frames.seen = False
                            client.sendall(chunk)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: proxy.py HOST:PORT")
    proxy = Proxy(sys.argv[1])
    threading.Thread(target=proxy.serve, daemon=True).start()
    print(f"ready {proxy.address}", flush=True)
    for line in sys.stdin:
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "lose_answer_to":
            proxy.lose_answer_to(argument)
        elif command == "cut":
            proxy.cut()
        else:
            sys.exit(f"unknown command {command}")
        print("ok", flush=True)


if __name__ == "__main__":
    main()
