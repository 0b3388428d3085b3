"""A connection of a benchmark to the JSON protocol, kept over many calls."""

import http.client
import json


class JsonConnection:
    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=120)

    def call(self, operation, **members):
        """Calls an operation that must succeed. Returns its document."""
        self.connection.request("POST", "/", json.dumps(members), {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(body)
        return json.loads(body)
