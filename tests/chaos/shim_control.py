"""The page that is shared with the shim in the daemon (shim/control.h): which call fails, how far clocks are off."""

import errno
import mmap
import struct

CALLS = ("write", "fsync", "open", "rename", "unlink", "mmap", "read", "truncate", "allocate", "mkdir", "link")
ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EMFILE": errno.EMFILE, "ENOMEM": errno.ENOMEM, "SHORT": 0}

_KINDS = 16
_FIRED, _COUNTDOWN, _MORE = 8 * _KINDS, 8 * _KINDS + 8, 8 * _KINDS + 16
_KIND, _ERROR, _PATH = 8 * _KINDS + 24, 8 * _KINDS + 28, 8 * _KINDS + 32
_CLOCK, _FSYNC = 8 * _KINDS + 64, 8 * _KINDS + 72
SIZE = 8 * _KINDS + 80


class ShimControl:
    """Thread-safety: for one thread. The shim sees each change at once."""

    def __init__(self, path):
        self.path = path
        with open(path, "w+b") as file:
            file.truncate(SIZE)
            self.page = mmap.mmap(file.fileno(), SIZE)
        self.disarm()

    def put(self, layout, offset, value):
        struct.pack_into(layout, self.page, offset, value)

    def get(self, layout, offset):
        return struct.unpack_from(layout, self.page, offset)[0]

    def seen(self, call):
        """The number of calls of this kind so far."""
        return self.get("<q", 8 * CALLS.index(call))

    def arm(self, call, number, error, more=0, path_part=""):
        """Lets the `number`-th call from now fail, and `more` behind it."""
        self.disarm()
        self.put("<32s", _PATH, path_part.encode())
        self.put("<i", _ERROR, ERRORS[error])
        self.put("<q", _COUNTDOWN, number)
        self.put("<q", _MORE, more)
        self.put("<i", _KIND, CALLS.index(call))

    def disarm(self):
        self.put("<i", _KIND, -1)

    def fired(self):
        """The number of calls that failed so far."""
        return self.get("<q", _FIRED)

    def set_clock_offset(self, seconds):
        self.put("<q", _CLOCK, int(seconds * 1e9))

    def set_fsync_us(self, microseconds):
        self.put("<q", _FSYNC, microseconds)

    def environment(self, shim, roots, journal=None, boot=None):
        """The environment of a daemon with the shim. boot: file with the id of the machine's run."""
        found = {"LD_PRELOAD": str(shim), "ARMATURE_CHAOS_CONTROL": str(self.path),
                 "ARMATURE_CHAOS_ROOT": ":".join(map(str, roots))}
        optional = {"ARMATURE_CHAOS_JOURNAL": journal, "ARMATURE_CHAOS_BOOT": boot}
        return {**found, **{name: str(value) for name, value in optional.items() if value}}
