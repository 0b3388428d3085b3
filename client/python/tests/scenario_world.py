"""Daemons, proxies, certificates and errors of the scenarios."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

import armature
from armature.testing import Daemon
from scenario_values import from_yaml, same, to_yaml

ERRORS = {
    "condition_failed": armature.ConditionFailed,
    "transaction_cancelled": armature.TransactionCancelled,
    "transaction_conflict": armature.TransactionConflict,
    "token_reused": armature.TokenReused,
    "validation": armature.ValidationError,
    "not_found": armature.NotFound,
    "in_use": armature.ResourceInUse,
    "duplicate_item": armature.DuplicateItem,
    "throttled": armature.Throttled,
    "limit_exceeded": armature.LimitExceeded,
    "access_denied": armature.AccessDenied,
    "unauthenticated": armature.Unauthenticated,
    "trimmed": armature.ChangesTrimmed,
    "unsupported": armature.Unsupported,
    "outcome_unknown": armature.OutcomeUnknown,
    "deadline": armature.DeadlineExceeded,
    "unavailable": armature.Unavailable,
    "batch_failed": armature.BatchFailed,
}


def type_of(error):
    """The type of an error in the scenarios."""
    for name, kind in ERRORS.items():
        if type(error) is kind:
            return name
    # Values that Python refuses by itself are not sent.
    if isinstance(error, (armature.InvalidArgument, TypeError, ValueError)):
        return "invalid_argument"
    return type(error).__name__


def facts_of(error, wanted):
    """The parts of an error that a scenario wants to see, in the form of YAML's values."""
    facts = {"type": type_of(error)}
    if "exception" in wanted:
        facts["exception"] = getattr(error, "exception", None)
    if "item" in wanted:
        facts["item"] = to_yaml(error.item)
    if "reasons" in wanted:
        facts["reasons"] = [reason.code for reason in error.reasons]
    if "reason_items" in wanted:
        facts["reason_items"] = [to_yaml(reason.item) for reason in error.reasons]
    if "failed" in wanted:
        facts["failed"] = [to_yaml(one.item or one.key) for one in error.failed]
    if "message" in wanted:
        facts["message"] = wanted["message"] if wanted["message"] in str(error) else str(error)
    return facts


def check_error(error, wanted):
    """Raises the error again if it is not the wanted one."""
    facts = facts_of(error, wanted)
    expected = {name: to_yaml(from_yaml(value)) for name, value in wanted.items()}
    if not same(facts, expected, True):
        raise AssertionError(f"the error {facts} ({error}) instead of {wanted}") from error


def with_error_types(result):
    """Results of a pipeline, with the types of errors."""
    if isinstance(result, list):
        return [with_error_types(element) for element in result]
    if isinstance(result, dict) and isinstance(result.get("error"), Exception):
        return {"error": type_of(result["error"])}
    return result


class Proxy:
    """The proxy of the scenarios, as a process."""

    def __init__(self, program, daemon):
        self._process = subprocess.Popen(
            [sys.executable, program, daemon], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, close_fds=False
        )
        self.address = self._process.stdout.readline().split()[1]

    def command(self, text):
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        if self._process.stdout.readline().strip() != "ok":
            raise AssertionError("the proxy has failed")

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Place:
    """A daemon with its proxy and certificates."""

    def __init__(self, world, options, is_shared):
        self._world = world
        self._options = options
        self.is_shared = is_shared
        self._proxy = None
        self._dead = None
        flags = list(options.get("flags", []))
        certificates = world.certificates if {"tls", "credentials"} & set(options) else None
        if options.get("tls"):
            flags += [f"--tls_cert={certificates}/server.pem", f"--tls_key={certificates}/server.key"]
        if options.get("client_certificates"):
            flags.append(f"--tls_client_ca={certificates}/ca.pem")
        if options.get("credentials"):
            flags.append(f"--credentials_file={certificates}/credentials.json")
        self.daemon = Daemon(world.armatured, flags)

    @property
    def owner_options(self):
        options = {"tls": True} if self._options.get("tls") else {}
        if self._options.get("credentials"):
            options["access_key"] = ["writer", "secret-of-the-writer"]
        return options

    def arguments_of(self, options):
        arguments = {"timeout": options.get("timeout", 10)}
        if options.get("retries") is False:
            arguments["retry"] = None
        if "access_key" in options:
            arguments["access_key"] = tuple(options["access_key"])
        if options.get("tls") == "system":
            arguments["tls"] = True
        elif options.get("tls"):
            directory = self._world.certificates
            own = {"certificate_file": f"{directory}/client.pem", "key_file": f"{directory}/client.key"}
            arguments["tls"] = armature.Tls(f"{directory}/ca.pem", **(own if options.get("certificate") else {}))
        return arguments

    def targets_of(self, options):
        if options.get("proxy"):
            if self._proxy is None:
                self._proxy = Proxy(self._world.scenarios / "proxy.py", self.daemon.target)
            return self._proxy.address
        if "addresses" in options:
            known = {"dead": self._dead_address(), "daemon": self.daemon.target, "unresolved": "nothing.invalid:7700"}
            return [known[name] for name in options["addresses"]]
        return self.daemon.target

    def _dead_address(self):
        """An address where nobody listens: the port stays bound, and is not listened on."""
        if self._dead is None:
            self._dead = socket.socket()
            self._dead.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % self._dead.getsockname()[1]

    def daemon_step(self, command):
        if command == "pause":
            self.daemon.signal(signal.SIGSTOP)
            os.waitpid(self.daemon.process_id, os.WUNTRACED)
        elif command == "continue":
            self.daemon.signal(signal.SIGCONT)
        elif command == "restart":
            self.daemon.kill()
            self.daemon.start()
        else:
            getattr(self.daemon, command)()

    def proxy_step(self, command):
        if isinstance(command, dict):
            command = "lose_answer_to " + command["lose_answer_to"]
        self._proxy.command(command)

    def close(self):
        if self._proxy is not None:
            self._proxy.close()
        if self._dead is not None:
            self._dead.close()
        self.daemon.close()


class World:
    """The parts that scenarios share."""

    def __init__(self, armatured, scenarios):
        self.armatured = armatured
        self.scenarios = pathlib.Path(scenarios)
        self._shared = None
        self._certificates = None

    @property
    def certificates(self):
        if self._certificates is None:
            self._certificates = tempfile.TemporaryDirectory(prefix="armature_")
            subprocess.run([self.scenarios / "certificates", self._certificates.name], check=True, close_fds=False)
        return self._certificates.name

    @contextlib.contextmanager
    def place(self, options):
        """The daemon of a scenario. options: None for the shared one."""
        if options is None:
            if self._shared is None:
                self._shared = Place(self, {}, is_shared=True)
            yield self._shared
            return
        place = Place(self, options, is_shared=False)
        try:
            yield place
        finally:
            place.close()

    def renew(self):
        """Drops the shared daemon, after a scenario that has left its tables."""
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def close(self):
        self.renew()
        if self._certificates is not None:
            self._certificates.cleanup()


def find_armatured(argument):
    found = argument or os.environ.get("ARMATURED")
    if not found:
        sys.exit("name the daemon as argument or in the variable ARMATURED")
    return found
