// A session of HTTP/2, its client and its handlers, which do what the input says step by step. Clients send frames, in
// pieces of any size, or bytes that are none; handlers answer at once, late, in parts or not at all, and keep what they
// get; time passes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/http/h2_output.h"
#include "daemon/http/h2_session.h"
#include "daemon/http/h2_stream.h"
#include "tests/fuzz/allocated_bytes.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/h2_client.h"

namespace armature::fuzz {
namespace {

using daemon::H2Break;
using daemon::H2Output;
using daemon::H2Request;
using daemon::H2Session;
using daemon::H2Stream;
using daemon::HeaderField;
using daemon::StreamHandler;

constexpr size_t kFrameMost = (16 << 10) + 9;
// Memory of a session beside what it counts: its tables, and frames of a few tokens. A stream and its handler.
constexpr int64_t kSessionBytes = 64 << 10;
constexpr int64_t kStreamBytes = 4 << 10;
constexpr int64_t kHandlerBytes = 256;
// Bytes that a session may send for each byte that it has received, and for each step of a handler, beside messages.
constexpr size_t kBytesPerByte = 10;
constexpr size_t kBytesPerStep = 100;
constexpr daemon::H2Limits kLimits{.streams_max = 10,
                                   .head_bytes_max = 500,
                                   .window_bytes = 1000,
                                   .window_bytes_max = 10'000,
                                   .output_bytes_max = 20'000,
                                   .frames = {.burst = 50, .per_second = 10},
                                   .resets = {.burst = 5, .per_second = 1}};

// The rest of an input. After its end: zeros.
class Script {
 public:
  explicit Script(std::string_view bytes) : bytes_(bytes) {}
  bool is_empty() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte;
  }
  size_t Number() {
    const size_t high = Byte();
    return high << 8 | Byte();
  }
  std::string_view Take(size_t most) {
    const std::string_view part = bytes_.substr(0, most);
    bytes_.remove_prefix(part.size());
    return part;
  }

 private:
  std::string_view bytes_;
};

// Habits of a handler: acts without a step of the script.
enum Habit : uint8_t { kAnswersAtOnce = 1, kAnswersAtEnd = 2, kConsumes = 4, kResetsAtData = 8, kOwed = 16 };

class Handler final : public StreamHandler {
 public:
  Handler(H2Stream* stream, uint8_t habits, size_t* calls, size_t* answered)
      : stream_(stream), habits_(habits), calls_(calls), answered_(answered) {
    if ((habits_ & kConsumes) != 0) stream_->set_long();
    if ((habits_ & kOwed) != 0) stream_->SetOwed(true);
    if ((habits_ & kAnswersAtOnce) != 0) Finish();
  }

  void OnData(std::string_view bytes) override {
    Count();
    Check(!bytes.empty() && !has_ended_, "data comes before the end");
    held_ += bytes.size();
    if ((habits_ & kConsumes) != 0) Consume(held_);
    if ((habits_ & kResetsAtData) != 0) stream_->Reset(NGHTTP2_CANCEL);
  }
  void OnEnd() override {
    Count();
    Check(!std::exchange(has_ended_, true), "a request ends once");
    if ((habits_ & kAnswersAtEnd) != 0) Finish();
  }
  void OnShed() override {
    Count();
    if (!is_answered_) stream_->Reset(NGHTTP2_ENHANCE_YOUR_CALM);
  }
  void OnSent(uint32_t weight) override {
    Count();
    Check(weight == sent_++, "messages are sent in order");
  }
  void OnClosed() override {
    Count();
    stream_ = nullptr;
  }

  // Does one thing more.
  void Act(Script* script) {
    const uint8_t what = script->Byte();
    if (stream_ == nullptr) return;
    switch (what % 6) {
      case 0:
        return Consume(script->Number());
      case 1:
        return stream_->Reset(script->Byte());
      case 2:
        return stream_->SetWindow(script->Number());
      case 3:
        return stream_->SetOwed((what & 0x80) != 0);
      case 4:
        return Send(script->Number() / 4);
      default:
        return Finish((what & 0x80) != 0);
    }
  }
  bool is_closed() const { return stream_ == nullptr; }

 private:
  void Count() {
    ++*calls_;
    Check(stream_ != nullptr, "nothing is called after OnClosed");
  }
  void Consume(size_t most) {
    const size_t part = std::min(most, held_);
    held_ -= part;
    stream_->Consume(part);
  }
  void Head() {
    if (std::exchange(has_head_, true)) return;
    const HeaderField head[] = {{":status", "200", true}};
    stream_->SendHead(head, /*is_last=*/false);
  }
  void Send(size_t bytes) {
    if (is_answered_) return;
    Head();
    stream_->Send({.head = "head", .bytes = std::string(bytes, 'm'), .weight = messages_++});
    *answered_ += bytes;
    Check(stream_->unsent_bytes() >= bytes, "a message is not sent at once");
  }
  void Finish(bool has_trailers = true) {
    if (std::exchange(is_answered_, true)) return;
    Head();
    const HeaderField trailers[] = {{"grpc-status", "0", true}};
    if (has_trailers) return stream_->SendEnd(trailers);
    stream_->SendEnd({});
  }

  H2Stream* stream_;
  const uint8_t habits_;
  size_t* const calls_;
  size_t* const answered_;
  size_t held_ = 0;
  uint32_t messages_ = 0;
  uint32_t sent_ = 0;
  bool has_head_ = false;
  bool is_answered_ = false;
  bool has_ended_ = false;
};

class Connection final : private H2Session::Host {
 public:
  explicit Connection(std::string_view input)
      : allocated_before_(AllocatedBytes()), script_(input), session_(this, &output_, &kLimits) {}

  void Run() {
    Receive(daemon::RawPreface());
    while (!script_.is_empty()) {
      Step();
      CheckMemory();
    }
    for (int i = 0; i < 3; ++i) Read(SIZE_MAX);
    session_.CloseAll();
    for (const auto& handler : handlers_) Check(handler->is_closed(), "each handler is closed");
    Check(session_.streams() == 0 && session_.held_bytes() == 0, "nothing is held in the end");
    Check(!session_.Pull() && !session_.Receive("x"), "nothing happens after CloseAll");
  }

 private:
  void Step() {
    ++steps_;
    const uint8_t step = script_.Byte();
    switch (step % 12) {
      case 0:
        return Receive(script_.Take(script_.Number()));
      case 1:
      case 2: {
        const uint8_t type = script_.Byte();
        const uint8_t flags = script_.Byte();
        const uint32_t stream = script_.Byte();
        return Receive(daemon::RawFrame(type, flags, stream, script_.Take(script_.Byte())));
      }
      case 3:
        last_stream_ += 2;
        return Receive(daemon::RawRequest(last_stream_, (step & 0x80) != 0));
      case 4: {
        const uint32_t stream = script_.Byte();
        return Receive(daemon::RawFrame(NGHTTP2_DATA, 0, stream, std::string(script_.Number(), 'd')));
      }
      case 5:
        return Read(script_.Number());
      case 6:
        now_ns_ += int64_t{script_.Byte()} * 100'000'000;
        session_.Sweep(now_ns_);
        return;
      case 7:
        return Control(script_.Byte());
      default:
        if (handlers_.empty()) return;
        return handlers_[script_.Byte() % handlers_.size()]->Act(&script_);
    }
  }

  void CheckMemory() const {
    const size_t counted = session_.held_bytes() + session_.head_bytes() + output_.size();
    const int64_t bounded = kSessionBytes + 2 * static_cast<int64_t>(counted) +
                            kStreamBytes * static_cast<int64_t>(session_.streams()) +
                            kHandlerBytes * static_cast<int64_t>(handlers_.capacity());
    Check(AllocatedBytes() - allocated_before_ <= bounded, "memory is bounded or counted");
  }

  void Control(uint8_t what) {
    switch (what % 8) {
      case 0:
        return session_.BeginDrain();
      case 1:
        return session_.EndDrain();
      case 2:
        return session_.Ping();
      case 3:
        return session_.Shed();
      case 4:
        may_widen_ = !may_widen_;
        return;
      default:
        habits_ = what / 8;
    }
  }

  void Receive(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, 1 + habits_ * 20);
      bytes.remove_prefix(piece.size());
      // Memory of its own, so that the address sanitizer sees a read beyond the end.
      const std::vector<char> copy(piece.begin(), piece.end());
      received_ += copy.size();
      const bool is_open = session_.Receive({copy.data(), copy.size()});
      Check(!is_open || is_open_, "a session that is over stays so");
      is_open_ = is_open;
      Check(calls_ <= 20 + 4 * (received_ + steps_), "work is bounded");
      Check(handlers_.size() <= 1 + received_ / 9, "requests are bounded");
    }
  }

  // The client reads so many bytes.
  void Read(size_t bytes) {
    do {
      const bool is_open = session_.Pull();
      Check(is_open, "frames can be made");
      Check(output_.size() < kLimits.output_bytes_max + 2 * kFrameMost, "the output is bounded");
      std::array<std::string_view, 2> pieces;
      size_t left = bytes;
      while (left > 0 && output_.size() > 0) {
        Check(output_.Gather(pieces) > 0 && !pieces[0].empty(), "there are bytes");
        const size_t part = std::min(left, pieces[0].size());
        output_.Advance(part);
        left -= part;
        sent_ += part;
      }
    } while (session_.is_blocked() && bytes == SIZE_MAX);
    Check(sent_ <= 500 + kBytesPerByte * received_ + kBytesPerStep * steps_ + 2 * answered_, "output is explained");
    if (!session_.is_over()) return;
    const size_t size = output_.size();
    Check(session_.Pull() && output_.size() == size, "nothing follows the last words");
  }

  std::shared_ptr<StreamHandler> OnRequest(H2Stream* stream, H2Request request) override {
    ++calls_;
    Check(request.is_too_large == (request.bytes > kLimits.head_bytes_max), "large heads are flagged");
    Check(request.bytes <= kLimits.head_bytes_max * H2Session::kHeadsPerBreak, "no head is larger");
    handlers_.push_back(std::make_shared<Handler>(stream, habits_, &calls_, &answered_));
    return handlers_.back();
  }
  void OnWork() override {}
  void OnBroken(H2Break why) override {
    if (why == H2Break::kStalled) return;
    Check(!std::exchange(is_broken_, true), "a connection breaks once");
  }
  bool MayWiden(size_t) override { return may_widen_; }
  int64_t NowNs() const override { return now_ns_; }

  const int64_t allocated_before_;
  Script script_;
  H2Output output_;
  std::vector<std::shared_ptr<Handler>> handlers_;
  uint8_t habits_ = kAnswersAtEnd | kConsumes;
  uint32_t last_stream_ = UINT32_MAX;
  size_t calls_ = 0;
  size_t received_ = 0;
  size_t sent_ = 0;
  size_t answered_ = 0;  // bytes of messages
  size_t steps_ = 0;
  bool is_open_ = true;
  bool is_broken_ = false;
  bool may_widen_ = true;
  int64_t now_ns_ = 1'000'000'000;
  H2Session session_;
};

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Objects that are made once belong to no input.
  static const bool kIsWarm = (armature::fuzz::Connection("warm").Run(), true);
  if (kIsWarm) armature::fuzz::Connection(armature::fuzz::Text(data, size)).Run();
  return 0;
}
