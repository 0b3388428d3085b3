#!/usr/bin/python3
"""Signatures against an implementation of their own: random requests are signed here, with nothing but hashlib and hmac,
and must be accepted; with any one part changed they must not."""

import argparse
import hashlib
import hmac
import random
import subprocess
import sys
import unittest
import urllib.parse

SECRET = "0123456789abcdef/+ABCDEF"
TIME = "20251104T120000Z"
REQUESTS = 400
WORDS = ["a", "Z", "0", "-", "_", ".", "~", " ", "%", "+", "&x", "=", "/", "\u00e4", "\u1234", "\t", "?", "'", "é!"]


def text(rng, most):
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(0, most)))


def quoted(value):
    return urllib.parse.quote(value.encode(), safe="-._~")


def signature(method, path, query, headers, names, body, region, time=TIME):
    lines = []
    for name in names:
        values = [" ".join(value.split()) for header, value in headers if header == name]
        lines.append(name + ":" + ",".join(values) + "\n")
    pairs = sorted((quoted(name), quoted(value)) for name, value in query)
    canonical = "\n".join(
        [
            method,
            path,
            "&".join(name + "=" + value for name, value in pairs),
            "".join(lines),
            ";".join(names),
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{time[:8]}/{region}/dynamodb/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


class Request:
    def __init__(self, rng, order=sorted):
        self.method = rng.choice(["POST", "POST", "GET", "PUT"])
        segments = [quoted(text(rng, 4)) for _ in range(rng.randint(0, 3))]
        segments = [each for each in segments if each not in ("", ".", "..")]
        self.path = "/" + "/".join(segments)
        self.body = text(rng, 30).encode()
        self.query = [(text(rng, 3), text(rng, 3)) for _ in range(rng.randint(0, 4))]
        self.headers = [("host", "db.example.org"), ("x-amz-target", "DynamoDB_20120810.Query")]
        for _ in range(rng.randint(0, 4)):
            self.headers.append((rng.choice(["b", "content-type", "x-amz-meta", "z1"]), text(rng, 5)))
        region = rng.choice(["eu-central-1", "local", "us_east"])
        credential = f"AKIDEXAMPLE/{TIME[:8]}/{region}/dynamodb/aws4_request"
        in_query = rng.random() < 0.4
        if not in_query:
            self.headers.append(("x-amz-date", TIME))
        rng.shuffle(self.headers)
        names = order({name for name, _ in self.headers})
        if in_query:
            self.query += [
                ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
                ("X-Amz-Credential", credential),
                ("X-Amz-Date", TIME),
                ("X-Amz-SignedHeaders", ";".join(names)),
            ]
        # An escape in the path is escaped again.
        path = "/" + "/".join(quoted(each) for each in segments)
        signed = signature(self.method, path, self.query, self.headers, names, self.body, region)
        if in_query:
            self.query.append(("X-Amz-Signature", signed))
            rng.shuffle(self.query)
        else:
            self.headers.append(
                (
                    "authorization",
                    f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(names)}, Signature={signed}",
                )
            )

    def line(self):
        target = self.path
        if self.query:
            target += "?" + "&".join(quoted(name) + "=" + quoted(value) for name, value in self.query)
        fields = [TIME, SECRET, self.method, target, self.body]
        for name, value in self.headers:
            fields += [name, value.strip()]
        encoded = [field if isinstance(field, bytes) else field.encode() for field in fields]
        return " ".join(field.hex() or "-" for field in encoded)

    def tamper(self, rng):
        """Changes one part. Returns its name."""
        part = rng.choice(["method", "path", "body", "query", "header", "more query"])
        if part == "method":
            self.method = "DELETE"
        elif part == "path":
            self.path += "x"
        elif part == "body":
            self.body += b" "
        elif part == "more query" or (part == "query" and not self.query):
            self.query.append(("extra", ""))
        elif part == "query":
            at = rng.randrange(len(self.query))
            name, value = self.query[at]
            self.query[at] = (name, value + "1")
            part += " " + name
        else:
            at = rng.randrange(len(self.headers))
            name, value = self.headers[at]
            self.headers[at] = (name, value + "1")
            part += " " + name
        return part


class SigV4Test(unittest.TestCase):
    checker = ""

    def check(self, requests):
        done = subprocess.run(
            [self.checker],
            input="".join(request.line() + "\n" for request in requests),
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        return done.stdout.split()

    def test_what_is_signed_is_accepted(self):
        rng = random.Random(4)
        requests = [Request(rng) for _ in range(REQUESTS)]
        for request, answer in zip(requests, self.check(requests), strict=True):
            self.assertEqual(answer, "OK", vars(request))

    def test_what_was_changed_is_refused(self):
        rng = random.Random(5)
        requests = [Request(rng) for _ in range(4 * REQUESTS)]
        parts = [request.tamper(rng) for request in requests]
        for request, part, answer in zip(requests, parts, self.check(requests), strict=True):
            self.assertRegex(answer, "^(InvalidSignature|IncompleteSignature)Exception$", (part, vars(request)))
        self.assertGreater(len(set(parts)), 10)

    def test_lists_of_headers_must_ascend(self):
        def descending(names):
            return sorted(names, reverse=True)

        def repeated(names):
            return sorted([*names, "host"])

        for order in (descending, repeated):
            rng = random.Random(6)
            for answer in self.check([Request(rng, order) for _ in range(20)]):
                self.assertEqual(answer, "InvalidSignatureException", order)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--checker", required=True)
    known, rest = parser.parse_known_args()
    SigV4Test.checker = known.checker
    unittest.main(argv=[sys.argv[0], *rest])
