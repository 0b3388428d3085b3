"""PynamoDB's models against the daemon at $ENDPOINT."""

import os

from pynamodb.attributes import JSONAttribute, MapAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute, VersionAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

ENDPOINT = {"host": os.environ["ENDPOINT"], "region": "local"}


class ByStatus(GlobalSecondaryIndex):
    class Meta:
        index_name = "ByStatus"
        projection = AllProjection()
        billing_mode = "PAY_PER_REQUEST"

    status = UnicodeAttribute(hash_key=True)
    amount = NumberAttribute(range_key=True)


class Address(MapAttribute):
    city = UnicodeAttribute()
    number = NumberAttribute(null=True)


class Order(Model):
    class Meta:
        table_name = "pynamodb_orders"
        billing_mode = "PAY_PER_REQUEST"
        host = ENDPOINT["host"]
        region = ENDPOINT["region"]

    customer = UnicodeAttribute(hash_key=True)
    number = NumberAttribute(range_key=True)
    status = UnicodeAttribute(default="new")
    amount = NumberAttribute(default=0)
    tags = UnicodeSetAttribute(null=True)
    address = Address(null=True)
    extra = JSONAttribute(null=True)
    version = VersionAttribute()
    by_status = ByStatus()


def refused(kind, call):
    """The error of this kind that a call raises."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def items():
    order = Order("ann", 1, amount=12.5, tags={"a", "b"}, address=Address(city="Köln", number=7), extra={"a": [1, None]})
    order.save()
    got = Order.get("ann", 1, consistent_read=True)
    assert got.serialize() == order.serialize(), got.serialize()
    assert (got.amount, got.tags, got.address.city, got.extra) == (12.5, {"a", "b"}, "Köln", {"a": [1, None]})
    failed = refused(PutError, lambda: Order("ann", 1).save())  # a new object expects that there is none
    assert failed.cause_response_code == "ConditionalCheckFailedException", failed
    got.update(actions=[Order.amount.add(1), Order.address.city.set("Bonn"), Order.tags.delete({"a"})],
               condition=Order.status == "new")
    assert (got.amount, got.address.city, got.tags, got.version) == (13.5, "Bonn", {"b"}, 2)
    failed = refused(UpdateError, lambda: order.update(actions=[Order.status.set("late")]))  # of version 1
    assert failed.cause_response_code == "ConditionalCheckFailedException", failed
    got.delete()
    refused(DoesNotExist, lambda: Order.get("ann", 1))


def pages():
    with Order.batch_write() as batch:
        for i in range(60):
            batch.save(Order("bob", i, status="paid" if i % 2 else "new", amount=i / 2))
    found = Order.query("bob", Order.number.between(10, 19), filter_condition=Order.status == "paid", scan_index_forward=False)
    assert [order.number for order in found] == [19, 17, 15, 13, 11]
    first = Order.query("bob", limit=25, page_size=10)
    numbers = [order.number for order in first]
    numbers += [order.number for order in Order.query("bob", page_size=10, last_evaluated_key=first.last_evaluated_key)]
    assert numbers == list(range(60)), numbers
    paid = Order.by_status.query("paid", Order.amount > 25, page_size=2)
    assert [order.number for order in paid] == [51, 53, 55, 57, 59]
    assert Order.count("bob") == 60 and Order.by_status.count("new") == 30
    assert len(list(Order.scan(page_size=7))) == 60
    assert {order.number for order in Order.batch_get([("bob", 1), ("bob", 2), ("nobody", 3)])} == {1, 2}


def transactions():
    connection = Connection(**ENDPOINT)

    def move(condition):
        with TransactWrite(connection=connection) as write:
            write.save(Order("cid", 1), condition=condition)
            write.update(Order.get("bob", 0), actions=[Order.amount.add(5)])

    move(Order.customer.does_not_exist())
    failed = refused(TransactWriteError, lambda: move(Order.amount > 100))
    assert failed.cancellation_reasons[0].code == "ConditionalCheckFailed", failed.cancellation_reasons
    with TransactGet(connection=connection) as read:
        futures = [read.get(Order, "cid", 1), read.get(Order, "bob", 0)]
    assert [future.get().amount for future in futures] == [0, 5]


Order.create_table(wait=True)
assert Order.exists()
items()
pages()
transactions()
Order.delete_table()
print("pynamodb: all passed")
