"""Clients from package registries: their installation, and the environment in which tests run programs of them."""

import fcntl
import pathlib
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 600


def npm_clients(work, source=HERE):
    """The folder with the packages from npm that package-lock.json in `source` pins. Installs them at most once; skips the test
    if it cannot."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise unittest.SkipTest("no node and npm")
    folder = pathlib.Path(work) / "node"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (source / "package-lock.json").read_bytes()
    installed = folder / "installed.json"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run at the same time
        if not installed.exists() or installed.read_bytes() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(source / name, folder)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            if done.returncode != 0:
                raise unittest.SkipTest(f"npm cannot install the clients here:\n{done.stderr}")
            installed.write_bytes(wanted)
    return folder


def node_script(folder, script):
    """The command that runs a script of this folder. Node resolves imports from the script's folder, so it is copied."""
    shutil.copy(HERE / script, folder)
    return ["node", str(folder / script)]
