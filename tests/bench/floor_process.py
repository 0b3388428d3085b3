"""Runs a floor: h2_floor or grpc_floor."""

import subprocess


class Floor:
    """A floor at the address `grpc`; a context manager."""

    def __init__(self, program, directory, *flags, **process):
        self.command = [program, f"--directory={directory}", *flags]
        self.process_options = process

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **self.process_options)
        self.grpc = self.process.stdout.readline().decode().strip()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()
