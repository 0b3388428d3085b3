"""Tables whose every state, and the time of each, a test knows, for tests of archives."""

import bisect
import datetime
import time

from indexed_orders import key_of, order


def contents(items):
    return {key_of(item): item for item in items}


def now_ms():
    return time.time_ns() // 1_000_000


def moment(ms):
    """A time as the command line takes it."""
    when = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return f"{when:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"


class History:
    """Every state of what one client writes, and when it began to be possible and was certain.

    The client writes the numbers `part`, `part + parts`, ... of the table `name`.
    """

    def __init__(self, name="Orders", part=0, parts=1):
        self.name = name
        self.part = part
        self.parts = parts
        self.states = [{}]
        self.sent = []  # of write i, which makes state i + 1
        self.answered = []

    def write(self, daemon, item, is_delete):
        state = dict(self.states[-1])
        sent = now_ms()
        if is_delete:
            key = {name: item[name] for name in ("customer", "number")}
            status = daemon.ask("DeleteItem", TableName=self.name, Key=key)
            state.pop(key_of(item), None)
        else:
            status = daemon.ask("PutItem", TableName=self.name, Item=item)
            state[key_of(item)] = item
        assert status == 200
        self.sent.append(sent)
        self.answered.append(now_ms())
        self.states.append(state)

    def write_some(self, daemon, count, chance):
        for _ in range(count):
            number = chance.randrange(300 // self.parts) * self.parts + self.part
            self.write(daemon, order(number, chance.choice(["open", "sent", "paid"])), chance.random() < 0.2)

    def possible(self, ms):
        """The states that the table may have had at the end of that millisecond."""
        first = bisect.bisect_right(self.answered, ms)
        last = bisect.bisect_right(self.sent, ms)
        return self.states[first:last + 1]
