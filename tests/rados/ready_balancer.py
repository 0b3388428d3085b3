"""A load balancer for tests: passes TCP connections on to the server whose /readyz is 200."""

import http.client
import socket
import threading

ASK_SECONDS = 0.05  # between two questions
ANSWER_SECONDS = 1


def end(*sockets):
    for each in sockets:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:  # ended already
            pass


class ReadyBalancer:
    """`servers` returns pairs of addresses, HOST:PORT: where a server serves, and where it answers /readyz.

    A connection ends when one of its sides ends, and at once if no server is ready. `close` ends all.
    """

    def __init__(self, servers):
        self.servers, self.ready, self.stop = servers, None, threading.Event()
        self.mutex, self.open = threading.Lock(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self.listener.getsockname())
        for work in (self.watch, self.accept):
            threading.Thread(target=work, daemon=True).start()

    def watch(self):
        while not self.stop.wait(ASK_SECONDS):
            ready = [address for address, operators in self.servers() if address and operators and self.is_ready(operators)]
            # The one that was ready before, if two are.
            self.ready = self.ready if self.ready in ready else next(iter(ready), None)

    @staticmethod
    def is_ready(operators):
        connection = http.client.HTTPConnection(operators, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def accept(self):
        while not self.stop.is_set():
            try:
                near, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        server = self.ready
        try:
            if server is None:
                raise OSError("no server is ready")
            host, port = server.rsplit(":", 1)
            far = socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        pair = (near, far)
        for each in pair:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.mutex:
            self.open.add(pair)
        back = threading.Thread(target=self.pass_on, args=(far, near), daemon=True)
        back.start()
        self.pass_on(near, far)
        back.join()
        with self.mutex:
            self.open.discard(pair)
        for each in pair:
            each.close()

    @staticmethod
    def pass_on(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass
        end(source, sink)

    def close(self):
        self.stop.set()
        # Wakes the accept, which a close would not.
        end(self.listener)
        self.listener.close()
        with self.mutex:
            for pair in self.open:
                end(*pair)
