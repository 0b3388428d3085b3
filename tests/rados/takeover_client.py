"""One client of daemons that replace each other: takeover_client.py KIND NAME ADDRESS...

Puts items with rising numbers, reads the one before, and adds to a counter, until its standard input ends. Prints a line of
JSON for each call, with the error that the program sees after all retries of its client. KIND:

- boto3: as it comes, with one address
- boto3-patient: likewise, with more attempts than it makes by itself
- boto3-list: the same, with an address for each daemon, by a loop of the program
- armature: this project's package for Python
- cli: this project's command line, in C++, a process for each call; needs ARMATURE, its path
"""

import json
import os
import select
import subprocess
import sys
import time

PAUSE_SECONDS = 0.01
# The default of all packages of this project, so also of the loop here.
CALL_SECONDS = 10
TABLE = "calls"
PATIENT_ATTEMPTS = 15


class Boto3:
    def __init__(self, addresses, retries=None):
        import boto3
        import botocore.config

        config = botocore.config.Config(connect_timeout=2, read_timeout=5, retries=retries)
        self.clients = [
            boto3.client(
                "dynamodb",
                endpoint_url=f"http://{address}",
                region_name="local",
                aws_access_key_id="anyone",
                aws_secret_access_key="secret",
                config=config,
            )
            for address in addresses
        ]

    def call(self, method, **request):
        return getattr(self.clients[0], method)(TableName=TABLE, **request)

    def put(self, name, number):
        self.call("put_item", Item={"k": {"S": name}, "n": {"N": str(number)}})

    def get(self, name, number):
        return "Item" in self.call("get_item", Key={"k": {"S": name}, "n": {"N": str(number)}}, ConsistentRead=True)

    def add(self, name):
        values = {":one": {"N": "1"}}
        self.call(
            "update_item",
            Key={"k": {"S": name}, "n": {"N": "0"}},
            UpdateExpression="ADD c :one",
            ExpressionAttributeValues=values,
        )


class Boto3List(Boto3):
    """Goes to the next address when one does not serve, as a program does that knows all of them."""

    def __init__(self, addresses):
        super().__init__(addresses, {"mode": "standard", "total_max_attempts": 1})
        self.turn = 0

    def call(self, method, **request):
        import botocore.exceptions

        end = time.monotonic() + CALL_SECONDS
        while True:
            try:
                return getattr(self.clients[self.turn], method)(TableName=TABLE, **request)
            except botocore.exceptions.ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500 or time.monotonic() > end:
                    raise
            except botocore.exceptions.BotoCoreError:  # no connection, or no answer
                if time.monotonic() > end:
                    raise
            self.turn = (self.turn + 1) % len(self.clients)
            time.sleep(0.05)


class Armature:
    def __init__(self, addresses):
        import armature

        self.table = armature.connect(addresses).table(TABLE)

    def put(self, name, number):
        self.table.put({"k": name, "n": number})

    def get(self, name, number):
        return self.table.get({"k": name, "n": number}, consistent=True) is not None

    def add(self, name):
        self.table.update({"k": name, "n": 0}, "ADD #c $one", params={"one": 1})


class CommandLine:
    def __init__(self, addresses):
        self.command = [os.environ["ARMATURE"], "--endpoint", ",".join(addresses), "--timeout", str(CALL_SECONDS), "item"]

    def call(self, verb, *arguments):
        done = subprocess.run(
            [*self.command, verb, "--table-name", TABLE, *arguments], capture_output=True, text=True, check=False, timeout=6 * CALL_SECONDS
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout or "{}")

    def put(self, name, number):
        self.call("put", "--item", json.dumps({"k": {"S": name}, "n": {"N": str(number)}}))

    def get(self, name, number):
        key = json.dumps({"k": {"S": name}, "n": {"N": str(number)}})
        return "Item" in self.call("get", "--key", key, "--consistent-read")

    def add(self, name):
        key, values = json.dumps({"k": {"S": name}, "n": {"N": "0"}}), json.dumps({":one": {"N": "1"}})
        self.call("update", "--key", key, "--update-expression", "ADD c :one", "--expression-attribute-values", values)


KINDS = {
    "boto3": Boto3,
    "boto3-patient": lambda addresses: Boto3(addresses, {"mode": "standard", "total_max_attempts": PATIENT_ATTEMPTS}),
    "boto3-list": Boto3List,
    "armature": Armature,
    "cli": CommandLine,
}


def main():
    kind, name, *addresses = sys.argv[1:]
    client = KINDS[kind](addresses)
    acknowledged, number = 0, 0
    while True:
        number += 1
        for operation in ("put", "get", "add"):
            if operation == "get" and not acknowledged:
                continue
            told = {"operation": operation, "number": acknowledged if operation == "get" else number, "begun": time.monotonic()}
            try:
                if operation == "get":
                    told["found"] = client.get(name, acknowledged)
                elif operation == "put":
                    client.put(name, number)
                    acknowledged = number
                else:
                    client.add(name)
            except Exception as error:  # pylint: disable=broad-except
                told["error"] = f"{type(error).__name__}: {error}"
            told["ended"] = time.monotonic()
            print(json.dumps(told), flush=True)
            if select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
                return


if __name__ == "__main__":
    main()
