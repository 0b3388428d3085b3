"""Answers in a form in which two servers can be compared."""

import json
import re

# Members that legitimately differ between servers, or with time.
VOLATILE = {
    "CreationDateTime", "TableId", "LatestStreamLabel", "LatestStreamArn", "ItemCount", "TableSizeBytes", "IndexSizeBytes",
    "LastUpdateToPayPerRequestDateTime", "LastIncreaseDateTime", "LastDecreaseDateTime", "TableStatus", "IndexStatus", "Backlog",
    "Backfilling", "WarmThroughput", "NextToken"}
SETS = ({"SS"}, {"NS"}, {"BS"})
SHORT = 160


def text_of(document):
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def normal(document):
    """A copy without what may differ: volatile members, accounts in ARNs, order of sets."""
    if isinstance(document, dict):
        if set(document) in SETS and isinstance(next(iter(document.values())), list):
            (kind, elements), = document.items()
            return {kind: sorted(elements)}
        return {name: normal(child) for name, child in document.items() if name not in VOLATILE}
    if isinstance(document, list):
        return [normal(child) for child in document]
    if isinstance(document, str):
        return re.sub(r"arn:aws:dynamodb:[\w-]*:\d*:", "arn:", document)
    if isinstance(document, (int, float)) and not isinstance(document, bool):
        return float(document)
    return document


def ordered(elements):
    return sorted(elements, key=text_of) if isinstance(elements, list) else elements


class Answer:
    """One side's answer to a request.

    error: "Type: text", or None after a success.
    members: the members of the answer that are compared; after an error, those beside type and text.
    """

    def __init__(self, operation, request, status, document):
        self.status = status
        if status == 200:
            self.error = None
            self.members = normal(document) if isinstance(document, dict) else {"": document}
            self.arrange(operation, request)
        else:
            document = document if isinstance(document, dict) else {}
            kind = str(document.get("__type", "")).rpartition("#")[2]
            text = document.get("message", document.get("Message", ""))
            self.error = normal(f"{kind}: {text}" if status else f"no answer: {kind or document.get('__type')} {text}")
            beside = normal({name: child for name, child in document.items() if name not in ("__type", "message", "Message")})
            self.members = {name: child for name, child in beside.items() if child not in (None, [], {})}

    def arrange(self, operation, request):
        """Sorts what has no order."""
        members = self.members
        if operation in ("Scan", "ListTagsOfResource"):
            for name in ("Items", "Tags"):
                if name in members:
                    members[name] = ordered(members[name])
        elif operation == "ExecuteStatement" and " ORDER BY " not in str(request.get("Statement")).upper():
            members["Items"] = ordered(members.get("Items"))
        elif operation == "BatchGetItem":
            members["Responses"] = {table: ordered(items) for table, items in members.get("Responses", {}).items()}
        for name in ("ConsumedCapacity", "ItemCollectionMetrics"):
            members[name] = ordered(members.get(name))
            if isinstance(members[name], dict) and name == "ItemCollectionMetrics":
                members[name] = {table: ordered(metrics) for table, metrics in members[name].items()}
        self.members = {name: child for name, child in members.items() if child is not None}

    def summary(self):
        return self.error or "ok"


def shortened(text):
    return text if len(text) <= SHORT else f"{text[:SHORT]}..."


def parts(path, ours, theirs):
    """(path, our value, their value) of each place where two documents differ; absent values are None."""
    if ours == theirs:
        return
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            yield from parts(f"{path}.{name}" if path else name, ours.get(name), theirs.get(name))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (left, right) in enumerate(zip(ours, theirs)):
            yield from parts(f"{path}[{number}]", left, right)
    else:
        yield path, ours, theirs


def shown(path, part):
    return f"ok {path} = {'absent' if part is None else shortened(text_of(part))}"


def differences(ours, theirs):
    """Pairs of texts, one for each side: errors as "Type: text"; a success as "ok", or as "ok PATH = VALUE" if both succeeded."""
    if ours.error or theirs.error:
        if ours.error != theirs.error:
            yield ours.summary(), theirs.summary()
            return
        left, right = ours.members, theirs.members
        for path, our_part, their_part in parts("", left, right):
            yield f"{ours.error} {shown(path, our_part)}", f"{theirs.error} {shown(path, their_part)}"
        return
    for path, our_part, their_part in parts("", ours.members, theirs.members):
        yield shown(path, our_part), shown(path, their_part)


def signature(text):
    """The text without the values in it, so that differences of one kind are counted as one."""
    text = re.sub(r'"[^"]*"', '"_"', text)
    text = re.sub(r"'[^']*'", "'_'", text)
    text = re.sub(r"\{.*\}", "{_}", text)
    text = re.sub(r"(?<!reasons )\[[^\]]*\]", "[_]", text)
    text = re.sub(r"\d+(\.\d+)?", "0", text)
    return re.sub(r"(: |= )\S+$", r"\1_", text)
