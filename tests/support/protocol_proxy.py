"""A server of the original protocol that answers by a function of the test, or passes calls on to a daemon."""

import http.client
import http.server
import json
import threading


class Answer:
    """An answer of a server. body: bytes, or a document."""

    def __init__(self, body, status=200, **headers):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = headers


def refusal(name, status=400):
    return Answer({"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": f"{name} of the test"}, status)


class ProtocolProxy:
    """A context manager that serves on a port of its own.

    handle(operation, document): called for each request, on many threads. Its Answer is sent; None passes the request on.
    change(operation, document, answer): called with the documents of a call that was passed on; returns the answer to send.
    """

    def __init__(self, handle=None, backend=None, change=None):
        self.handle = handle or (lambda operation, document: None)
        self.change = change or (lambda operation, document, answer: answer)
        self.backend = backend
        self.local = threading.local()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    answer = proxy.answer(self.headers["X-Amz-Target"], body)
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name.replace("_", "-"), value)
                    self.send_header("Content-Length", str(len(answer.body)))
                    self.end_headers()
                    self.wfile.write(answer.body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # clients that were killed
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def answer(self, target, body):
        operation, document = target.partition(".")[2], json.loads(body)
        answer = self.handle(operation, document)
        if answer is not None:
            return answer
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPConnection(self.backend, timeout=60)
        self.local.connection.request(
            "POST", "/", body, {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.0"})
        passed = self.local.connection.getresponse()
        text = passed.read()
        if passed.status != 200:
            return Answer(text, passed.status)
        return Answer(self.change(operation, document, json.loads(text)))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
