"""Transactions: all actions or none."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Mapping, Optional

from armature.api.v1 import items_pb2

from .. import values
from .._requests import Expressions, Key, write_request
from ..expressions import Condition, Update

if TYPE_CHECKING:
    from .client import Client


class Transaction:
    """Up to 100 actions on different items of any tables. A context manager, which commits at its end:

        async with client.transaction() as transaction:
            transaction.put("orders", order, condition=attr("id").not_exists())
            transaction.update("users", {"id": "ann"}, attr("orders").add(1))

    token: up to 36 characters. The transaction is applied once, however often it is sent with the token within ten
    minutes; a new token is made without one. The arguments of the actions are those of the methods of `Table`.

    Errors: TransactionCancelled with a reason for each action; TransactionConflict; TokenReused.
    """

    def __init__(self, client: Client, token: Optional[str], timeout: Optional[float]) -> None:
        self._client = client
        self._timeout = timeout
        self._request = items_pb2.TransactWriteItemsRequest(client_request_token=token or str(uuid.uuid4()))
        self.change_sequence = 0  # of the committed transaction

    @property
    def token(self) -> str:
        """To be given to a repeat of this transaction, also by another process."""
        return self._request.client_request_token

    def put(
        self,
        table: str,
        item: Mapping[str, Any],
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_on_failure: bool = False,
    ) -> None:
        """Creates or replaces an item."""
        action = items_pb2.Put(table_name=table)
        _fill(action.item, item)
        given = Expressions(params, names, values)
        write_request(action, condition=condition, given=given, return_on_failure=return_on_failure)
        self._request.transact_items.add(put=action)

    def update(
        self,
        table: str,
        key: Key,
        update: Update,
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_on_failure: bool = False,
    ) -> None:
        """Changes or creates an item."""
        action = items_pb2.Update(table_name=table)
        _fill(action.key, key)
        given = Expressions(params, names, values)
        write_request(action, condition=condition, update=update, given=given, return_on_failure=return_on_failure)
        self._request.transact_items.add(update=action)

    def delete(
        self,
        table: str,
        key: Key,
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_on_failure: bool = False,
    ) -> None:
        """Deletes an item."""
        action = items_pb2.Delete(table_name=table)
        _fill(action.key, key)
        given = Expressions(params, names, values)
        write_request(action, condition=condition, given=given, return_on_failure=return_on_failure)
        self._request.transact_items.add(delete=action)

    def check(
        self,
        table: str,
        key: Key,
        condition: Condition,
        *,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_on_failure: bool = False,
    ) -> None:
        """Checks a condition on an item that the transaction does not write."""
        action = items_pb2.ConditionCheck(table_name=table)
        _fill(action.key, key)
        given = Expressions(params, names, values)
        write_request(action, condition=condition, given=given, return_on_failure=return_on_failure)
        self._request.transact_items.add(condition_check=action)

    async def commit(self) -> None:
        """Applies all actions."""
        response = await self._client.call(self._request, timeout=self._timeout)
        self.change_sequence = response.change_sequence

    async def __aenter__(self) -> Transaction:
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._request.transact_items:
            await self.commit()


def _fill(message: Any, item: Mapping[str, Any]) -> None:
    values.fill(message.attributes, item)
