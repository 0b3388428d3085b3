"""A daemon of its own for each test that is written in Python."""

import os
import signal
import subprocess
import tempfile

WAIT_S = 60


class Daemon:
    """A daemon on a temporary directory and free ports of 127.0.0.1; a context manager.

    grpc, http: its addresses, HOST:PORT; http is None if that front is off.
    """

    def __init__(self, armatured, *flags, data_dir=None, **popen_options):
        self.armatured = armatured
        self.flags = flags
        self.data_dir = data_dir
        self.popen_options = popen_options

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="armature_test_")
        data_dir = self.data_dir or f"{self.directory.name}/data"
        command = [self.armatured, f"--data_dir={data_dir}", "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0"]
        self.errors = open(f"{self.directory.name}/stderr", "w+b")
        self.process = subprocess.Popen(
            [*command, *self.flags], stdout=subprocess.PIPE, stderr=self.errors, **self.popen_options)
        line = self.process.stdout.readline().decode()
        if not line.startswith("ready "):
            self.process.kill()
            written = line + self.log()
            self.__exit__()
            raise RuntimeError(f"the daemon does not serve; it wrote: {written}")
        addresses = dict(word.split("=", 1) for word in line.split()[1:])
        self.grpc = addresses.get("grpc")
        self.http = addresses.get("http")
        return self

    def log(self):
        """What it has written to stderr so far."""
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8", errors="replace") as text:
            return text.read()

    def stop(self):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        self.directory.cleanup()


def client_environment(**more):
    """An environment for clients of the original protocol in which nothing of the machine's own set-up counts."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **environment,
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_REGION": "local",
        "AWS_DEFAULT_REGION": "local",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }
