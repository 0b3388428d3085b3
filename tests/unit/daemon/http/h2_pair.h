#ifndef ARMATURE_TESTS_UNIT_DAEMON_HTTP_H2_PAIR_H_
#define ARMATURE_TESTS_UNIT_DAEMON_HTTP_H2_PAIR_H_

// A session of HTTP/2 with its host, and the bytes between it and a client.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/http/h2_output.h"
#include "daemon/http/h2_session.h"
#include "daemon/http/h2_stream.h"
#include "gtest/gtest.h"
#include "tests/support/h2_client.h"

namespace armature::daemon {

// Keeps what it is told, and consumes at once unless told not to.
class RecordingHandler final : public StreamHandler {
 public:
  RecordingHandler(H2Stream* of, H2Request taken) : stream(of), request(std::move(taken)) {}

  void OnData(std::string_view bytes) override {
    ++calls;
    data.append(bytes);
    if (consumes) stream->Consume(bytes.size());
    if (on_data) on_data(*this);
  }
  void OnEnd() override {
    ++ends;
    if (on_end) on_end(*this);
  }
  void OnShed() override {
    ++sheds;
    if (on_shed) on_shed(*this);
  }
  void OnStalled() override {
    if (on_stalled) on_stalled(*this);
  }
  void OnSent(uint32_t weight) override {
    sent.push_back(weight);
    if (on_sent) on_sent(*this);
  }
  void OnClosed() override {
    ++closes;
    stream = nullptr;
  }

  // Answers with a head, `messages`, and trailers.
  void Answer(const std::vector<std::string>& messages, const H2Fields& trailers = {{"grpc-status", "0"}}) const {
    Head();
    for (const std::string& message : messages) stream->Send({.head = {}, .bytes = message});
    End(trailers);
  }
  void Head() const {
    const HeaderField head[] = {{":status", "200", true}, {"content-type", "application/grpc", true}};
    stream->SendHead(head, /*is_last=*/false);
  }
  void End(const H2Fields& trailers = {{"grpc-status", "0"}}) const {
    std::vector<HeaderField> fields;
    for (const auto& [name, value] : trailers) fields.push_back({name, value});
    stream->SendEnd(fields);
  }

  H2Stream* stream;  // null once it has ended
  H2Request request;
  std::string data;
  size_t calls = 0;
  int ends = 0;
  int sheds = 0;
  int closes = 0;
  std::vector<uint32_t> sent;
  bool consumes = true;
  std::function<void(RecordingHandler&)> on_data;
  std::function<void(RecordingHandler&)> on_end;
  std::function<void(RecordingHandler&)> on_shed;
  std::function<void(RecordingHandler&)> on_stalled;
  std::function<void(RecordingHandler&)> on_sent;
};

class H2Pair final : public H2Session::Host {
 public:
  explicit H2Pair(const H2Limits& with = {}) : limits(with), session(this, &output, &limits) {}

  // Called with each new handler.
  std::function<void(RecordingHandler&)> on_request;

  // Like H2Connection after OnWork: all frames that there are, as bytes.
  std::string Sent() {
    std::string bytes;
    do {
      pulls = session.Pull();
      most_output = std::max(most_output, output.size());
      bytes += Read(output.size());
    } while (pulls && session.is_blocked());
    return bytes;
  }
  // Takes so many bytes from the output.
  std::string Read(size_t most) {
    std::string bytes;
    while (output.size() > 0 && bytes.size() < most) {
      std::array<std::string_view, 3> pieces;
      output.Gather(pieces);
      const std::string_view part = pieces[0].substr(0, most - bytes.size());
      bytes.append(part);
      output.Advance(part.size());
    }
    return bytes;
  }
  // Moves bytes in both directions until there are none.
  void Run(H2Client* client) {
    while (true) {
      const std::string to_server = client->Output();
      if (!to_server.empty() && is_open) is_open = session.Receive(to_server);
      const std::string to_client = Sent();
      EXPECT_TRUE(to_client.empty() || client->Input(to_client));
      if (to_server.empty() && to_client.empty()) return;
    }
  }
  RecordingHandler& handler(size_t i) { return *handlers.at(i); }

  const H2Limits limits;
  H2Output output;
  std::vector<std::shared_ptr<RecordingHandler>> handlers;
  bool keeps_handlers = true;
  size_t requests = 0;
  std::vector<H2Break> broken;
  bool has_long_requests = true;
  bool may_widen = true;
  size_t works = 0;
  int64_t now_ns = 1'000'000'000'000;
  bool is_open = true;
  bool pulls = true;
  size_t most_output = 0;
  H2Session session;

  // ---- The session's host

  std::shared_ptr<StreamHandler> OnRequest(H2Stream* stream, H2Request request) override {
    ++requests;
    if (has_long_requests) stream->set_long();
    auto made = std::make_shared<RecordingHandler>(stream, std::move(request));
    if (keeps_handlers) handlers.push_back(made);
    if (on_request) on_request(*made);
    return made;
  }
  void OnWork() override { ++works; }
  void OnBroken(H2Break why) override { broken.push_back(why); }
  bool MayWiden(size_t) override { return may_widen; }
  int64_t NowNs() const override { return now_ns; }
};

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_HTTP_H2_PAIR_H_
