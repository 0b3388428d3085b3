"""Client of the Armature database.

    import armature
    from armature import attr

    with armature.connect("localhost:7700") as client:
        client.create_table("users", partition={"id": str})
        users = client.table("users")
        users.put({"id": "ann", "visits": 1})
        users.update({"id": "ann"}, attr("visits").increment(1))
        print(users.get({"id": "ann"}))

`armature.aio` has the same for asyncio. `armature.testing` starts a daemon for tests. The messages of the API are in
`armature.api.v1`.
"""

import os

# gRPC's library writes lines about TLS and connections to standard error; the errors of this package have the reasons.
# A program that wants them sets the variable itself.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from . import telemetry
from ._requests import Index
from ._retry import Retry
from ._settings import Tls
from ._sharding import Shards
from ._sync.batch import BatchWriter
from ._sync.client import Client, connect
from ._sync.pages import Pages, ParallelScan
from ._sync.pipeline import Pipeline
from ._sync.sharded import ShardedQuery
from ._sync.table import Table
from ._sync.transaction import Transaction
from ._sync.watch import Watch
from ._version import __version__
from .errors import (
    AccessDenied,
    ArmatureError,
    BatchFailed,
    CancellationReason,
    Cancelled,
    ChangesTrimmed,
    ConditionFailed,
    DeadlineExceeded,
    DuplicateItem,
    FailedWrite,
    InternalError,
    InvalidArgument,
    LimitExceeded,
    NotFound,
    OutcomeUnknown,
    ResourceInUse,
    Throttled,
    TokenReused,
    TransactionCancelled,
    TransactionConflict,
    Unauthenticated,
    Unavailable,
    Unsupported,
    ValidationError,
)
from .expressions import Attribute, Expression, UpdateAction, attr, text
from .results import Change, Page, ShardedPage, TableInfo, Written

__all__ = [
    "__version__",
    "AccessDenied",
    "ArmatureError",
    "attr",
    "Attribute",
    "BatchFailed",
    "BatchWriter",
    "CancellationReason",
    "Cancelled",
    "Change",
    "ChangesTrimmed",
    "Client",
    "ConditionFailed",
    "connect",
    "DeadlineExceeded",
    "DuplicateItem",
    "Expression",
    "FailedWrite",
    "Index",
    "InternalError",
    "InvalidArgument",
    "LimitExceeded",
    "NotFound",
    "OutcomeUnknown",
    "Page",
    "Pages",
    "ParallelScan",
    "Pipeline",
    "ResourceInUse",
    "Retry",
    "ShardedPage",
    "ShardedQuery",
    "Shards",
    "Table",
    "TableInfo",
    "telemetry",
    "text",
    "Throttled",
    "Tls",
    "TokenReused",
    "Transaction",
    "TransactionCancelled",
    "TransactionConflict",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
    "UpdateAction",
    "ValidationError",
    "Watch",
    "Written",
]
