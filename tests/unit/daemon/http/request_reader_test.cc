#include "daemon/http/request_reader.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"

namespace armature::daemon::request_reader_test {

using State = RequestReader::State;

struct Outcome {
  State state = State::kNeedsMore;
  unsigned refused_with = 0;
  std::vector<HttpRequest> requests;
  std::vector<bool> keep_alive;
};

// Passes `bytes` to the reader in pieces of `piece` bytes, like a connection.
Outcome ReadAll(std::string_view bytes, size_t piece, const RequestLimits& limits = {}) {
  RequestReader reader(&limits);
  Outcome outcome;
  std::string held;
  while (outcome.state != State::kRefused && !bytes.empty()) {
    held += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    do {
      size_t consumed = 0;
      outcome.state = reader.Read(held, &consumed);
      held.erase(0, consumed);
      if (outcome.state == State::kComplete) {
        outcome.keep_alive.push_back(reader.keep_alive());
        outcome.requests.push_back(std::move(reader.request()));
        reader.Next();
      }
    } while (outcome.state == State::kComplete && !held.empty());
  }
  outcome.refused_with = reader.refused_with();
  return outcome;
}

constexpr std::string_view kPost = "POST / HTTP/1.1\r\nHost: h\r\n";

TEST(RequestReader, ReadsWhatWasSentInPiecesOfAnySize) {
  const std::string bytes = Cat(
      "POST /a?b=c HTTP/1.1\r\nHost: h\r\nX-Mixed-CASE:  two words \t\r\nempty:\r\n", "Content-Length: 5\r\n\r\nhello",
      kPost, "Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0b\r\nhello world\r\n0\r\nTrailer: x\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n");
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Outcome outcome = ReadAll(bytes, piece);
    ASSERT_EQ(outcome.requests.size(), 3) << piece;
    EXPECT_EQ(outcome.requests[0].method, "POST");
    EXPECT_EQ(outcome.requests[0].target, "/a?b=c");
    ASSERT_EQ(outcome.requests[0].headers.size(), 4);
    EXPECT_EQ(*outcome.requests[0].Find("x-mixed-case"), "two words");
    EXPECT_EQ(*outcome.requests[0].Find("empty"), "");
    EXPECT_EQ(outcome.requests[0].body, "hello");
    EXPECT_EQ(outcome.requests[1].body, "abchello world");
    EXPECT_EQ(outcome.requests[1].Find("trailer"), nullptr);
    EXPECT_EQ(outcome.requests[2].method, "GET");
    EXPECT_THAT(outcome.keep_alive, testing::ElementsAre(true, true, false));
  }
}

// The empty line after the headers may arrive alone. It must not be taken for a folded line.
TEST(RequestReader, WhatFollowsARequestDoesNotSpoilIt) {
  const std::string bytes = Cat(kPost, "\r\n", " / HTTP/1.1\r\nHost: h\r\n\r\n");
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Outcome outcome = ReadAll(bytes, piece);
    EXPECT_EQ(outcome.requests.size(), 1) << piece;
    EXPECT_EQ(outcome.refused_with, 400) << piece;
  }
}

TEST(RequestReader, EmptyBodies) {
  for (const size_t piece : {1, 2, 1000}) {
    const Outcome outcome = ReadAll(
        Cat(kPost, "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kPost, "Content-Length: 0\r\n\r\n", kPost, "\r\n"),
        piece);
    ASSERT_EQ(outcome.requests.size(), 3) << piece;
    for (const HttpRequest& request : outcome.requests) EXPECT_EQ(request.body, "");
  }
}

TEST(RequestReader, EmptyLineBetweenRequestsIsIgnored) {
  for (const size_t piece : {1, 3, 1000}) {
    EXPECT_EQ(ReadAll(Cat("\r\n", kPost, "\r\n\r\n\r\n", kPost, "\r\n"), piece).requests.size(), 2) << piece;
  }
}

struct RefusedCase {
  std::string_view name;
  std::string bytes;
  unsigned status = 400;
};

std::vector<RefusedCase> RefusedCases() {
  const auto with = [](std::string_view headers) { return Cat(kPost, headers, "\r\n"); };
  const auto chunked = [](std::string_view body) { return Cat(kPost, "Transfer-Encoding: chunked\r\n\r\n", body); };
  return {
      {"no HTTP", "hello there\r\n\r\n"},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15)},
      {"unknown version", "POST / HTTP/2.0\r\nHost: h\r\n\r\n"},
      {"blank in the target", "POST /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"line ends with LF", "POST / HTTP/1.1\nHost: h\n\n"},
      {"header ends with LF", with("A: b\n")},
      {"bare CR in a value", with("A: b\rc\r\n")},
      {"bare CR ends a header", with("A: b\rB: c\r\n")},
      {"zero byte in a value", with(std::string_view("A: b\0c\r\n", 8))},
      {"a header that goes on in the next line", with("A: b\r\n c\r\n")},
      {"and by a tab", with("A: b\r\n\tc\r\n")},
      {"a line that goes on where no header is", "POST / HTTP/1.1\r\n Host: h\r\n\r\n"},
      {"blank before the colon", with("Content-Length : 5\r\n")},
      {"no colon", with("Content-Length\r\n")},
      {"no name", with(": x\r\n")},
      {"line break in a name", with("Content\r\n-Length: 5\r\n")},
      {"both lengths", with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
      {"both lengths, the other way round", with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")},
      {"two lengths", with("Content-Length: 5\r\nContent-Length: 6\r\n")},
      {"the same length twice", with("Content-Length: 5\r\nContent-Length: 5\r\n")},
      {"a list of lengths", with("Content-Length: 5, 5\r\n")},
      {"length with a sign", with("Content-Length: +5\r\n")},
      {"negative length", with("Content-Length: -1\r\n")},
      {"length in hexadecimal", with("Content-Length: 0x5\r\n")},
      {"empty length", with("Content-Length:\r\n")},
      {"length beyond 64 bits", with("Content-Length: 18446744073709551621\r\n")},
      {"unknown transfer coding", with("Transfer-Encoding: gzip\r\n")},
      {"two transfer codings", with("Transfer-Encoding: gzip, chunked\r\n")},
      {"chunked twice", with("Transfer-Encoding: chunked, chunked\r\n")},
      {"chunked in two headers", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {"chunked not last", with("Transfer-Encoding: chunked, identity\r\n")},
      {"nearly chunked", with("Transfer-Encoding: xchunked\r\n")},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"no Host", "POST / HTTP/1.1\r\n\r\n"},
      {"two Hosts", with("Host: g\r\n")},
      {"other expectation", with("Expect: the unexpected\r\n"), 417},
      {"body too long", with("Content-Length: 16777217\r\n"), 413},
      {"chunk size is no number", chunked("x\r\n")},
      {"chunk size is missing", chunked("\r\n")},
      {"chunk size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n")},
      {"chunk size with a sign", chunked("-3\r\nabc\r\n")},
      {"chunk size beyond 64 bits", chunked("10000000000000001\r\na")},
      {"chunk longer than it says", chunked("3\r\nabcd\r\n0\r\n\r\n")},
      {"chunk ends with LF", chunked("3\r\nabc\n0\r\n\r\n")},
      {"chunk size ends with LF", chunked("3\nabc\r\n0\r\n\r\n")},
      {"chunk too long", chunked("1000001\r\n"), 413},
      {"chunks too long", chunked(Cat("800000\r\n", std::string(8 << 20, 'x'), "\r\n800001\r\n")), 413},
      {"bad trailer", chunked("0\r\nA b\r\n\r\n")},
      {"endless request line", Cat("POST /", std::string(20 << 10, 'x'))},
      {"request line too long", Cat("POST /", std::string(16 << 10, 'x'), " HTTP/1.1\r\nHost: h\r\n\r\n")},
      {"endless header", with(Cat("A: ", std::string(40 << 10, 'x')))},
      {"header too long", with(Cat("A: ", std::string(16 << 10, 'x'), "\r\n"))},
      {"endless chunk extension", chunked(Cat("3;", std::string(20 << 10, 'x')))},
      {"endless trailer", chunked(Cat("0\r\nA: ", std::string(20 << 10, 'x')))},
  };
}

TEST(RequestReader, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const RefusedCase& each : RefusedCases()) {
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}, each.bytes.size()}) {
      if (piece < 1000 && each.bytes.size() > 100'000) continue;
      const Outcome outcome = ReadAll(each.bytes, piece);
      EXPECT_EQ(outcome.state, State::kRefused) << each.name << " in pieces of " << piece;
      EXPECT_EQ(outcome.refused_with, each.status) << each.name << " in pieces of " << piece;
      EXPECT_THAT(outcome.requests, testing::IsEmpty()) << each.name;
    }
  }
}

TEST(RequestReader, HoldsNoMoreThanTwiceWhatHasArrivedOfABody) {
  const RequestLimits limits;
  RequestReader reader(&limits);
  size_t consumed = 0;
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16000000\r\n\r\n";
  EXPECT_EQ(reader.Read(head, &consumed), State::kNeedsMore);
  EXPECT_LT(reader.held_bytes(), 5000u);
  size_t arrived = 0;
  for (const size_t piece : {100u, 9000u, 60000u, 60000u}) {
    EXPECT_EQ(reader.Read(std::string(piece, 'x'), &consumed), State::kNeedsMore);
    arrived += piece;
    EXPECT_LE(reader.held_bytes(), 2 * arrived + 5000);
  }
}

TEST(RequestReader, ManySmallHeadersAreTooMuchToo) {
  std::string flood(kPost);
  for (int i = 0; i < 5000; ++i) flood += "a:\r\n";
  for (const size_t piece : {size_t{1}, size_t{4}, size_t{1000}, flood.size()}) {
    EXPECT_EQ(ReadAll(flood, piece).refused_with, 400) << piece;
  }
}

TEST(RequestReader, TakesWhatIsJustWithinTheLimits) {
  const std::string line = Cat("POST /", std::string((16 << 10) - 18, 'x'), " HTTP/1.1\r\n");
  // "Host: h" and "A: " with their line ends, besides the value.
  const std::string headers = Cat("Host: h\r\nA: ", std::string((16 << 10) - 9 - 5, 'y'), "\r\n\r\n");
  for (const size_t piece : {size_t{1}, size_t{100}, size_t{100'000}}) {
    const Outcome outcome = ReadAll(line + headers, piece);
    EXPECT_EQ(outcome.requests.size(), 1) << piece << " refused with " << outcome.refused_with;
  }
  const std::string body(16 << 20, 'z');
  EXPECT_EQ(ReadAll(Cat(kPost, "Content-Length: 16777216\r\n\r\n", body), 64 << 10).requests.size(), 1);
  EXPECT_EQ(ReadAll(Cat(kPost, "Transfer-Encoding: chunked\r\n\r\n1000000\r\n", body, "\r\n0\r\n\r\n"), 64 << 10)
                .requests.size(),
            1);
}

TEST(RequestReader, MemoryIsTakenAsBytesComeNotAsTheyArePromised) {
  const RequestLimits limits;
  RequestReader reader(&limits);
  size_t consumed = 0;
  EXPECT_EQ(reader.Read(Cat(kPost, "Content-Length: 16777216\r\n\r\nabc"), &consumed), State::kNeedsMore);
  EXPECT_TRUE(reader.head_done());
  EXPECT_LT(reader.held_bytes(), 100'000);
}

TEST(RequestReader, TellsWhoWaitsForContinue) {
  const RequestLimits limits;
  for (const auto& [expectation, waits] : {std::pair("Expect: 100-Continue\r\n", true), std::pair("", false)}) {
    RequestReader reader(&limits);
    size_t consumed = 0;
    EXPECT_EQ(reader.Read(Cat(kPost, "Content-Length: 3\r\n", expectation, "\r\n"), &consumed), State::kNeedsMore);
    EXPECT_EQ(reader.wants_continue(), waits);
  }
}

TEST(RequestReader, KeepsTheConnectionAsTheVersionSays) {
  EXPECT_THAT(ReadAll(Cat(kPost, "Connection: close\r\n\r\n"), 1000).keep_alive, testing::ElementsAre(false));
  EXPECT_THAT(ReadAll("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 1000).keep_alive, testing::ElementsAre(true));
}

}  // namespace armature::daemon::request_reader_test
