"""A disk rebuilt from the shim's journal, as a power cut may leave it at any record.

Only a sync makes anything durable: that of a file its content, that of a directory its entries. All later changes may be there
or not, in any order. A sector that was durable before is old or new after an unsynced write over it, never anything else; bytes
behind the durable end of a file may be anything.
"""

import os
import pathlib
import struct

CREATE, TRUNCATE, WRITE, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, MKDIR, RMDIR, LINK, BEGIN, MAP = range(1, 13)
NAMES = (CREATE, RENAME, UNLINK, MKDIR, RMDIR, LINK)
HEAD = struct.Struct("<IBBHQQq")
PAGE = 4096
SECTOR = 512

# The ways in which unsynced changes may end.
VARIANTS = ("lost", "kept", "pages", "torn", "zeroed", "garbage", "extended", "entries", "renames")


class Record:
    __slots__ = ("kind", "time", "file", "number", "path", "data")

    def __init__(self, kind, time, file, number, path, data):
        self.kind = kind
        self.time = time
        self.file = file
        self.number = number
        self.path = path
        self.data = data


def read_journal(path):
    """Records in order; one that a kill cut off is left out."""
    content = pathlib.Path(path).read_bytes()
    at, records = 0, []
    while at + HEAD.size <= len(content):
        size, kind, _, path_size, time, file, number = HEAD.unpack_from(content, at)
        if at + size > len(content):
            break
        begin = at + HEAD.size
        records.append(Record(kind, time, file, number, content[begin:begin + path_size].decode(),
                              content[begin + path_size:at + size]))
        at += size
    return records


class Node:
    """Changes of a file or directory since it was synced. `first`: number of changes that are durable."""

    def __init__(self):
        self.first = 0
        self.pending = []
        self.syncs = {}  # number of a sync -> changes before it

    def change(self, change):
        self.pending.append(change)

    def begin_sync(self, number):
        self.syncs[number] = self.first + len(self.pending)

    def end_sync(self, number):
        count = max(0, self.syncs.pop(number) - self.first)
        for change in self.pending[:count]:
            self.apply(change)
        del self.pending[:count]
        self.first += count

    def apply(self, change):
        raise NotImplementedError


def write_at(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


def resize(content, size):
    del content[size:]
    content.extend(bytes(size - len(content)))


class File(Node):
    """Changes: (offset, data), or (size, None) for a truncation."""

    def __init__(self, content=b""):
        super().__init__()
        self.durable = bytearray(content)

    def apply(self, change):
        self.apply_to(self.durable, change)

    @staticmethod
    def apply_to(content, change):
        offset, data = change
        if data is None:
            resize(content, offset)
        else:
            write_at(content, offset, data)

    def content(self, variant, rng):
        final = bytearray(self.durable)
        if variant == "lost" or not self.pending:
            return final
        if variant == "torn":
            return self.torn(final, rng)
        for change in self.pending:
            self.apply_to(final, change)
        if variant == "pages":
            self.lose_pages(final, rng)
        elif variant in ("zeroed", "garbage", "extended"):
            self.damage(final, variant, rng)
        return final

    def torn(self, content, rng):
        """The changes in order up to one of which only the first bytes are there."""
        last = rng.randrange(len(self.pending))
        for change in self.pending[:last]:
            self.apply_to(content, change)
        offset, data = self.pending[last]
        if data is None:
            return content
        end = offset + rng.randrange(len(data) + 1)
        if end < len(self.durable):
            end = max(offset, end // SECTOR * SECTOR)
        self.apply_to(content, (offset, data[:end - offset]))
        return content

    def touched(self, unit, size):
        """The parts, of this unit, of unsynced writes within `size`: (begin, end) without overlap."""
        parts = {}
        for offset, data in self.pending:
            if data is None:
                continue
            for begin in range(offset // unit * unit, min(offset + len(data), size), unit):
                low, high = max(begin, offset), min(begin + unit, offset + len(data), size)
                known = parts.get(begin, (low, high))
                parts[begin] = (min(known[0], low), max(known[1], high))
        return parts.values()

    def lose_pages(self, content, rng):
        for begin, end in self.touched(PAGE, len(content)):
            if rng.random() < 0.5:
                content[begin:end] = bytes(self.durable[begin:end]).ljust(end - begin, b"\0")
        if rng.random() < 0.3 and len(self.durable) < len(content):  # the size was not written either
            resize(content, rng.randrange(len(self.durable), len(content)))

    def damage(self, content, variant, rng):
        known = len(self.durable)
        for begin, end in self.touched(SECTOR, len(content)):
            if variant != "extended" and rng.random() < 0.6:
                continue
            middle = max(begin, min(end, known))
            content[begin:middle] = self.durable[begin:middle]
            content[middle:end] = rng.randbytes(end - middle) if variant == "garbage" else bytes(end - middle)


class Directory(Node):
    """Changes: (name or None that goes, name or None that comes, node)."""

    def __init__(self):
        super().__init__()
        self.durable = {}

    def apply(self, change):
        self.apply_to(self.durable, change)

    @staticmethod
    def apply_to(entries, change):
        gone, come, node = change
        if gone is not None:
            entries.pop(gone, None)
        if come is not None:
            entries[come] = node

    def entries(self, variant, rng):
        entries = dict(self.durable)
        changes = self.pending
        if variant == "lost":
            changes = []
        elif variant == "pages":
            changes = changes[:rng.randrange(len(changes) + 1)]
        elif variant == "entries":
            changes = [change for change in changes if rng.random() < 0.5]
        elif variant == "renames":
            changes = [change for change in changes if change[0] is None or change[1] is None]
        for change in changes:
            self.apply_to(entries, change)
        return entries

    def now(self):
        return self.entries("kept", None)


class Disk:
    """The directory `root`, replayed record by record. Its content before the journal is durable."""

    def __init__(self, root):
        self.root = str(root)
        self.nodes = {}  # inode number -> node
        self.tree = self.load(pathlib.Path(root))

    def load(self, path):
        node = Directory()
        self.nodes[path.stat().st_ino] = node
        for entry in sorted(path.iterdir()):
            if entry.is_dir():
                node.durable[entry.name] = self.load(entry)
            else:
                node.durable[entry.name] = self.nodes[entry.stat().st_ino] = File(entry.read_bytes())
        return node

    def directory_of(self, path):
        """The directory of a path, and the name in it."""
        parts = pathlib.PurePath(path).relative_to(self.root).parts
        node = self.tree
        for part in parts[:-1]:
            node = node.now()[part]
        return node, parts[-1]

    def apply(self, record):
        kind = record.kind
        if kind in (SYNC_BEGIN, SYNC_END):
            node = self.nodes[record.file]
            (node.begin_sync if kind == SYNC_BEGIN else node.end_sync)(record.number)
        elif kind == WRITE:
            self.nodes[record.file].change((record.number, record.data))
        elif kind == TRUNCATE:
            self.nodes[record.file].change((record.number, None))
        elif kind == MAP:
            raise RuntimeError(f"{record.path} is written through memory: the journal does not see that")
        elif kind in (CREATE, MKDIR):
            node = self.nodes[record.file] = File() if kind == CREATE else Directory()
            directory, name = self.directory_of(record.path)
            directory.change((None, name, node))
        elif kind in NAMES:
            self.change_name(record)

    def change_name(self, record):
        directory, name = self.directory_of(record.path)
        if record.kind in (UNLINK, RMDIR):
            directory.change((name, None, None))
            return
        node = directory.now()[name]
        other, new_name = self.directory_of(record.data.decode())
        if record.kind == LINK:
            other.change((None, new_name, node))
        elif other is directory:
            directory.change((name, new_name, node))
        else:
            directory.change((name, None, None))
            other.change((None, new_name, node))

    def write(self, target, variant, rng):
        """Writes the directory as the cut leaves it."""
        self.write_directory(self.tree, pathlib.Path(target), variant, rng, {})

    def write_directory(self, directory, path, variant, rng, written):
        path.mkdir(mode=0o700)
        for name, node in directory.entries(variant, rng).items():
            if isinstance(node, Directory):
                self.write_directory(node, path / name, variant, rng, written)
            elif id(node) in written:
                os.link(written[id(node)], path / name)
            else:
                (path / name).write_bytes(node.content(variant, rng))
                written[id(node)] = path / name


def choose_cuts(records, count, rng):
    """Numbers of records before which the power goes, in order. Half of them are near changes of names."""
    names = [number for number, record in enumerate(records) if record.kind in NAMES]
    chosen = set()
    while len(chosen) < min(count, len(records)):
        if names and rng.random() < 0.5:
            chosen.add(min(len(records), max(1, rng.choice(names) + rng.randrange(-1, 4))))
        else:
            chosen.add(rng.randrange(1, len(records) + 1))
    return sorted(chosen)
