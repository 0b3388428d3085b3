"""Files of the tree and their comments: shared by the checks of this folder."""

import ast
import io
import pathlib
import re
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("storage", "index", "engine", "daemon", "client", "tools", "tests")
# Folders of tools and builds, which Git does not track.
FOREIGN_FOLDERS = {"node_modules", "build", "generated", "target", ".git", "__pycache__"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def is_in(name, folder):
    return name == folder or name.startswith(folder + "/")


def code_files(suffixes=(".cc", ".h")):
    for folder in CODE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file() and not FOREIGN_FOLDERS.intersection(path.parts):
                yield path


def tree_files():
    """All files of the project, without the folders of tools and builds."""
    pending = [ROOT]
    while pending:
        for path in sorted(pending.pop().iterdir()):
            if path.name in FOREIGN_FOLDERS or path.is_symlink():
                continue
            if path.is_dir():
                pending.append(path)
            else:
                yield path


# A comment of C++, or a literal that may contain the signs of one.
CPP_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<raw>\w*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)


def cpp_comment_lines(text):
    """(line number, column, text without slashes) of each comment line of C++, Protocol Buffers or JavaScript."""
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    line = 0
    for match in CPP_TOKEN.finditer(text):
        if match.group("comment") is None:
            continue
        while line + 1 < len(starts) and starts[line + 1] <= match.start():
            line += 1
        column = match.start() - starts[line]
        if text[starts[line] : match.start()].strip():
            column = -line  # behind code: not continued by the comment of the next line
        yield line + 1, column, match.group("comment").lstrip("/* ").rstrip("*/ ")


def hash_comment_lines(text):
    """The same of shell, CMake and the like: a '#' at the start of a line or behind a blank."""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(r"(?:^|(?<=\s))#+(?![!{])\s?(.*)", line)
        if match:
            yield number, match.start(), match.group(1)


def python_comment_lines(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield token.start[0], token.start[1], token.string.lstrip("# ")


def docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, ast.get_docstring(node)


def joined(lines):
    """(line number, text) of comment blocks: lines that follow each other in the same column are one text. An empty line
    or a list's dash begins a new one."""
    block, previous = None, None
    for number, column, text in lines:
        if block and previous == (number - 1, column) and text.strip() and not text.startswith("- "):
            block = (block[0], block[1] + " " + text.strip())
        else:
            if block:
                yield block
            block = (number, text.removeprefix("- ").strip())
        previous = (number, column)
    if block:
        yield block


def markdown_blocks(text):
    """(line number, text) of paragraphs, list items, headings and table cells, without code blocks."""
    block, fenced = None, False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        code = fenced or bare.startswith("```") or (line.startswith("    ") and block is None)
        item = re.match(r"(?:[-*]|\d+\.|#+) +(.*)", bare)
        if block and (code or not bare or item or bare.startswith("|")):
            yield block
            block = None
        if code or not bare:
            continue
        if bare.startswith("|"):
            for cell in bare.strip("|").split("|"):
                yield number, cell.strip()
        elif block:
            block = (block[0], block[1] + " " + bare)
        else:
            block = (number, item.group(1) if item else bare)
            if bare.startswith("#"):
                yield block
                block = None
    if block:
        yield block


def prose_of(path):
    """(line number, text) of each comment block of a source file, or paragraph of a document."""
    text = path.read_text()
    if path.suffix in (".cc", ".h", ".proto", ".mjs", ".ts"):
        yield from joined(cpp_comment_lines(text))
    elif path.suffix == ".py":
        yield from joined(python_comment_lines(text))
        yield from docstrings(text)
    elif path.suffix == ".md":
        yield from markdown_blocks(text)
    elif path.suffix in (".sh", ".cmake") or path.name == "CMakeLists.txt" or text.startswith(("#!/bin/", "#!/usr/bin/")):
        yield from joined(hash_comment_lines(text))


def prose_files():
    scripts = ("tools/run", "tools/setup", "tools/test", ".ci/run")
    for path in tree_files():
        known = path.suffix in (".cc", ".h", ".proto", ".mjs", ".ts", ".py", ".md", ".sh", ".cmake")
        if is_in(name_of(path), "tests/clients/interop/grpc"):
            continue  # published protos, whose words are not ours
        if known or path.name == "CMakeLists.txt" or name_of(path) in scripts:
            yield path
