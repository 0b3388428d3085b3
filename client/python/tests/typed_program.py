"""A program that mypy --strict accepts: the types that users see. `check` runs mypy on it, and nobody runs it."""

import datetime
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import armature
import armature.aio
from armature import Shards, attr


@dataclass
class Order:
    customer: str
    number: int
    placed: datetime.date


def synchronous(client: armature.Client) -> List[Order]:
    orders = client.table("orders", Order)
    written: armature.Written[Order] = orders.put(Order("ann", 1, datetime.date(2024, 1, 2)))
    position: int = written.change_sequence
    one: Optional[Order] = orders.get({"customer": "ann", "number": 1})
    plain: Optional[Dict[str, Any]] = client.table("orders").get({"customer": "ann", "number": 1})
    assert one is not None and plain is not None
    condition = (attr("customer") == "ann") & ~(attr("number") > position)
    page: armature.Page[Order] = orders.query(condition, descending=True).first_page()
    changes = [change.new.placed for change in orders.watch(oldest=True) if change.new is not None]
    dates: List[datetime.date] = changes + [order.placed for order in orders.parallel_scan(2)]
    for sharded in orders.sharded_query("#day = $day", Shards("day", 4), index="by_day").pages():
        dates += [order.placed for order in sharded.items]
    with client.pipeline() as pipeline:
        future = pipeline.get("orders", {"customer": "ann", "number": 1})
        found: Optional[Dict[str, Any]] = future.result()
        assert found is None or dates
    return page.items


async def asynchronous(client: armature.aio.Client) -> List[Order]:
    orders = client.session().table("orders", Order)
    await orders.put_all([Order("ann", 1, datetime.date(2024, 1, 2))])
    async with client.transaction() as transaction:
        transaction.put("orders", {"customer": "ann", "number": 2}, condition=attr("number").not_exists())
    try:
        await orders.update({"customer": "ann", "number": 1}, attr("number").increment(), return_on_failure=True)
    except armature.ConditionFailed as error:
        item: Optional[Dict[str, Any]] = error.item
        assert item is None
    return [order async for order in orders.scan(filter=attr("number").is_in(1, 2))]
