"""Names, numbers and types of protos as lines, and the changes between two lists that break programs or records."""

import os
import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {value: name.removeprefix("TYPE_").lower() for name, value in Field.Type.items()}
# Options that decide the names of generated code.
OPTIONS = ("cc_enable_arenas", "csharp_namespace", "go_package", "java_multiple_files", "java_outer_classname",
           "java_package", "optimize_for")
# Packages whose calls and messages may go.
SHRINKING_PACKAGES = ("armature.admin.v1", "armature.options.v1")


def compiled(root, folder):
    """The descriptors of the protos of `folder`, with their comments. Names are relative to `root`."""
    files = sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*.proto"))
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "set"
        command = [os.environ.get("PROTOC", "protoc"), f"-I{root}", f"--descriptor_set_out={out}", "--include_source_info"]
        done = subprocess.run([*command, *files], capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr)
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


def messages_in(file):
    """(full name, message) of all messages, those inside others, too, but without the entries of maps."""
    pending = [(f"{file.package}.{each.name}", each) for each in file.message_type]
    while pending:
        name, message = pending.pop(0)
        if message.options.map_entry:
            continue
        yield name, message
        pending += [(f"{name}.{each.name}", each) for each in message.nested_type]


def enums_in(file):
    """(full name, enum) of all enums."""
    for each in file.enum_type:
        yield f"{file.package}.{each.name}", each
    for name, message in messages_in(file):
        for each in message.enum_type:
            yield f"{name}.{each.name}", each


def type_of(field, message):
    for nested in message.nested_type:
        if nested.options.map_entry and field.type_name.endswith(f".{message.name}.{nested.name}"):
            return f"map<{type_of(nested.field[0], nested)},{type_of(nested.field[1], nested)}>"
    name = field.type_name.lstrip(".") or SCALARS[field.type]
    return f"repeated {name}" if field.label == Field.LABEL_REPEATED else name


def field_line(name, message, field):
    words = ["field", name, str(field.number), field.name, type_of(field, message)]
    if field.proto3_optional:
        words.append("optional")
    elif field.HasField("oneof_index"):
        words.append(f"oneof={message.oneof_decl[field.oneof_index].name}")
    return " ".join(words)


def lines_of(descriptors):
    """One line for each name, number and type, sorted by package, kind and name."""
    lines = []
    for file in descriptors.file:
        for option in OPTIONS:
            if file.options.HasField(option):
                lines.append(f"option {file.name} {option} {getattr(file.options, option)}")
        for name, message in messages_in(file):
            lines.append(f"message {name}")
            lines += [field_line(name, message, field) for field in message.field]
            lines += [f"reserved {name} {n}" for each in message.reserved_range for n in range(each.start, each.end)]
            lines += [f"reserved {name} {each}" for each in message.reserved_name]
        for name, enum in enums_in(file):
            lines.append(f"enum {name}")
            lines += [f"value {name} {value.number} {value.name}" for value in enum.value]
            lines += [f"reserved {name} {n}" for each in enum.reserved_range for n in range(each.start, each.end + 1)]
            lines += [f"reserved {name} {each}" for each in enum.reserved_name]
        for service in file.service:
            for method in service.method:
                request = ("stream " if method.client_streaming else "") + method.input_type.lstrip(".")
                response = ("stream " if method.server_streaming else "") + method.output_type.lstrip(".")
                kind = descriptor_pb2.MethodOptions.IdempotencyLevel.Name(method.options.idempotency_level)
                lines.append(f"call {file.package}.{service.name}.{method.name} {request} -> {response} {kind}")
    return sorted(lines, key=sort_key)


def sort_key(line):
    kind, name, *rest = line.split(" ")
    return name, kind, [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in rest]


def keyed(lines):
    """(what identifies a line) -> (the rest of the line)."""
    result = {}
    for line in lines:
        kind, name, *rest = line.split(" ")
        size = {"field": 1, "value": 1, "reserved": 1, "option": 1}.get(kind, 0)
        result[(kind, name, *rest[:size])] = " ".join(rest[size:])
    return result


def breaking_changes(old, new):
    """A text for each change from the lines `old` to `new` that is not allowed."""
    before, after = keyed(old), keyed(new)
    findings = []
    for key, rest in before.items():
        kind, name, *more = key
        what = " ".join(key)
        if key in after:
            if after[key] != rest:
                findings.append(f"{what}: was '{rest}', is '{after[key]}'")
        elif kind in ("field", "value"):
            if (("message" if kind == "field" else "enum"), name) not in after:
                continue  # told once, for the message
            text = rest.split(" ")[0]
            gone = [each for each in (more[0], text) if ("reserved", name, each) not in after]
            if gone:
                findings.append(f"{what} {rest}: renumbered, or removed without 'reserved' for {' and '.join(gone)}")
        elif kind == "reserved" or not name.startswith(SHRINKING_PACKAGES):
            if kind == "reserved" and not any((each, name) in after for each in ("message", "enum")):
                continue
            findings.append(f"{what}: removed")
    return findings
