"""Style of the protos: names, options and comments."""

import re

from changes import Field, enums_in, messages_in

PUBLIC_OPTIONS = ("cc_enable_arenas", "go_package", "java_multiple_files", "java_outer_classname", "java_package")

# Types that a program has without an import, or with the usual ones: of Java (java.lang, java.util), Go, Rust, TypeScript,
# Python and C#. A generated type of the same name hides them, or is ambiguous beside them.
COMMON_TYPES = set(
    """
    Any Array Arrays ArrayList Boolean Box Buffer BTreeMap Byte Bytes Callable Character Class ClassCastException Clone
    Collection Collections Comparable Copy Date Debug Decimal Default Deque Dict Dictionary Double Duration Entry Enum Err
    Error Event Exception Exclude Extract Float Function Future HashMap HashSet Int Integer Into Iterable Iterator JSON
    List Locale Long Map Math Module Never None Number Object Objects Ok Omit Option Optional Package Partial Pick Process
    Promise Proxy Queue Readonly Record Reflect RegExp Request Required Response Result Runtime Scanner Self Send Set
    Short Some Stack StackTrace String StringBuilder Symbol Sync System Task Thread Throwable Timer Tuple Type Uri Uuid
    Value Vec Vector Void
    """.split()
)
# Keywords of these languages and of C++.
KEYWORDS = set(
    """
    abstract alignas alignof and as asm assert async auto await base become bool boolean break byte case catch chan char
    checked class const constexpr continue crate debugger decimal def default defer delegate delete do double dyn elif else
    enum except explicit export extends extern fallthrough false final finally fixed float fn for foreach friend from func
    function global go goto if impl implements implicit import in inline instanceof int interface internal is lambda let
    lock long loop macro map match mod module move mut mutable namespace native new nil nonlocal none not null object
    operator or out override package params pass private protected pub public raise range readonly ref register return
    sbyte sealed self short signed sizeof static string struct super switch synchronized template this throw throws trait
    transient true try type typedef typeof union unsafe unsigned using var virtual void volatile where while with yield
    """.split()
)
# Fields from before the rule: generators append a sign to them in some languages.
NAMED_LIKE_KEYWORDS = {
    "armature.api.v1.AttributeValue.bool",
    "armature.api.v1.AttributeValue.null",
    "armature.api.v1.GlobalSecondaryIndexUpdate.delete",
    "armature.api.v1.Identity.type",
    "armature.api.v1.ShardFilter.type",
    "armature.api.v1.TransactWriteItem.delete",
}

CAMEL = re.compile(r"([A-Z][a-z0-9]*)+$")
SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
# Markup of Javadoc or rustdoc outside backticks.
MARKUP = re.compile(r"<\w+>|\[[^\]]*\](?!\()|\{@")


def comments_of(file):
    """Path of a declaration in the descriptor -> the comment above it."""
    return {tuple(each.path): each.leading_comments for each in file.source_code_info.location}


def upper(camel):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", camel).upper()


def enum_findings(name, enum):
    prefix = upper(enum.name) + "_"
    for value in enum.value:
        if not value.name.startswith(prefix):
            yield f"{name}.{value.name}: begin it with {prefix}"
    if enum.value[0].name != prefix + "UNSPECIFIED" and not enum.value[0].name.endswith("_UNSPECIFIED"):
        yield f"{name}: call the value 0 {prefix}UNSPECIFIED"


def field_findings(name, field):
    path = f"{name}.{field.name}"
    if not SNAKE.match(field.name):
        yield f"{path}: write it in snake_case"
    if field.name in KEYWORDS and path not in NAMED_LIKE_KEYWORDS:
        yield f"{path}: a keyword of some language"


def call_findings(package, service):
    if not service.name.endswith("Service"):
        yield f"{package}.{service.name}: end the name with Service"
    for method in service.method:
        for suffix, used in (("Request", method.input_type), ("Response", method.output_type)):
            if used != f".{package}.{method.name}{suffix}":
                yield f"{package}.{service.name}.{method.name}: takes or returns {used}, not {method.name}{suffix}"


def comment_findings(file):
    comments = comments_of(file)
    wanted = [((4, i), each.name) for i, each in enumerate(file.message_type)]
    wanted += [((5, i), each.name) for i, each in enumerate(file.enum_type)]
    for i, message in enumerate(file.message_type):
        wanted += [((4, i, 4, j), f"{message.name}.{each.name}") for j, each in enumerate(message.enum_type)]
    for i, service in enumerate(file.service):
        wanted.append(((6, i), service.name))
        wanted += [((6, i, 2, j), f"{service.name}.{each.name}") for j, each in enumerate(service.method)]
    for path, name in wanted:
        if not comments.get(path, "").strip():
            yield f"{file.package}.{name}: write a comment above it"


def markup_findings(file):
    for location in file.source_code_info.location:
        for text in (location.leading_comments, location.trailing_comments, *location.leading_detached_comments):
            found = MARKUP.search(re.sub(r"`[^`]*`", "", text))
            if found:
                yield f"{file.name}:{location.span[0] + 1}: put '{found.group(0)}' in backticks: it is markup elsewhere"


def required_findings(file):
    """Texts that are required are not `optional`: their languages would make them pointers or Options."""
    comments = {tuple(each.path): each.leading_comments + each.trailing_comments
                for each in file.source_code_info.location}
    for i, message in enumerate(file.message_type):
        for j, field in enumerate(message.field):
            is_text = field.type == Field.TYPE_STRING and field.proto3_optional
            if is_text and re.match(r"\s*Required(?! for|, unless)\b", comments.get((4, i, 2, j), "")):
                yield f"{file.package}.{message.name}.{field.name}: a required text is not optional"


def style_findings(file):
    """Findings in a public proto."""
    if file.name.rpartition("/")[0] != file.package.replace(".", "/"):
        yield f"{file.name}: is not in the folder of its package {file.package}"
    for option in PUBLIC_OPTIONS:
        if not file.options.HasField(option):
            yield f"{file.name}: has no option {option}"
    if not file.options.go_package.startswith("github.com/armaturedb/armature/client/go/"):
        yield f"{file.name}: go_package is not in our Go module"
    if file.options.java_package != f"io.github.armaturedb.{file.package.removeprefix('armature.')}":
        yield f"{file.name}: java_package does not follow from the package"
    for name, message in messages_in(file):
        if not CAMEL.match(message.name) or message.name in COMMON_TYPES:
            yield f"{name}: not CamelCase, or a type that some language has everywhere"
        for field in message.field:
            yield from field_findings(name, field)
    for name, enum in enums_in(file):
        if not CAMEL.match(enum.name) or enum.name in COMMON_TYPES:
            yield f"{name}: not CamelCase, or a type that some language has everywhere"
        yield from enum_findings(name, enum)
    for service in file.service:
        yield from call_findings(file.package, service)
    yield from comment_findings(file)
    yield from markup_findings(file)
    yield from required_findings(file)
