#include "daemon/rpc/rpc_call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "daemon/net/percent_encoding.h"
#include "daemon/rpc/rpc_wire.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// A message of more bytes is taken from the client only once there is memory for it. A smaller one fits into the window
// that the stream has anyway.
constexpr size_t kSmallMessageBytes = 32 << 10;
// Larger messages get memory for this many times what has arrived.
constexpr size_t kPartsGranted = 4;

// A deadline beyond is none.
constexpr int64_t kFarNs = INT64_MAX / 2;

constexpr std::string_view kCodeTexts[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                           "9", "10", "11", "12", "13", "14", "15", "16"};

using Fields = absl::InlinedVector<HeaderField, 8>;

void AppendHead(const std::vector<std::pair<std::string, std::string>>& metadata, Fields* fields) {
  fields->push_back({":status", "200", true});
  fields->push_back({"content-type", "application/grpc", true});
  for (const auto& [name, value] : metadata) fields->push_back({name, value});
}

// gRPC's prefix of a message that is not compressed.
std::string PrefixOf(size_t bytes) {
  return {'\0', static_cast<char>(bytes >> 24), static_cast<char>(bytes >> 16), static_cast<char>(bytes >> 8),
          static_cast<char>(bytes)};
}

size_t SizeIn(std::string_view prefix) {
  size_t size = 0;
  for (const char c : prefix.substr(1)) size = size << 8 | static_cast<unsigned char>(c);
  return size;
}

}  // namespace

RpcCall::RpcCall(H2Stream* stream, const H2Request& request, std::shared_ptr<const H2Peer> peer,
                 std::shared_ptr<IoLoop> loop, const RpcLimits* limits)
    : loop_(std::move(loop)), peer_(std::move(peer)), limits_(limits), stream_(stream) {
  peer_->running.fetch_add(1, std::memory_order_relaxed);
  ReadHead(request);
}

RpcCall::~RpcCall() { peer_->running.fetch_sub(1, std::memory_order_relaxed); }

MemorySource RpcCall::memory() const { return peer_->memory; }

void RpcCall::ReadHead(const H2Request& request) {
  path_ = request.path.view();
  authority_ = request.authority.view();
  for (const H2Request::Header& header : request.headers) {
    const std::string_view name = header.name.view();
    const std::string_view value = Sv(absl::StripAsciiWhitespace(Av(header.value.view())));
    if (name == "authorization") {
      authorization_ = authorization_.has_value() ? std::string() : std::string(value);
    } else if (name == "host" && authority_.empty()) {
      authority_ = value;
    } else if (name == "grpc-encoding") {
      is_encoded_ = value != "identity";
    } else if (name == "grpc-timeout") {
      const std::optional<int64_t> timeout_ns = ParseRpcTimeoutNs(value);
      has_bad_timeout_ = !timeout_ns.has_value();
      const int64_t now_ns = MonotonicNs();
      if (timeout_ns.has_value()) deadline_ns_ = now_ns + std::min(*timeout_ns, INT64_MAX - now_ns);
    }
  }
}

void RpcCall::Begin(const OpenCall& open) {
  if (has_bad_timeout_) return Finish({.code = RpcCode::kInternal, .message = "The grpc-timeout is malformed"});
  if (deadline_ns_.has_value() && *deadline_ns_ < kFarNs) {
    timer_ = loop_->SetTimer(*deadline_ns_, weak_from_this());
  }
  open(shared_from_this());
}

// ---- Reading

void RpcCall::Read(bool is_owed) {
  ++reads_;
  is_owed_ = is_owed;
  if (!is_delivering_ && !is_paused_ && stream_ != nullptr && !has_ended_) Take({}, /*has_turn=*/true);
}

void RpcCall::OnData(std::string_view bytes) {
  if (has_ended_) return stream_->Consume(bytes.size());
  if (reads_ > 0 && !is_paused_) return Take(bytes, /*has_turn=*/false);
  backlog_.append(bytes);
}

void RpcCall::Take(std::string_view bytes, bool has_turn) {
  is_delivering_ = true;
  std::string held = std::exchange(backlog_, {});
  if (!held.empty()) {
    held.append(bytes);
    bytes = std::string_view(held).substr(std::exchange(backlog_begin_, 0));
  }
  // A call's first message has come in the turn of its connection, which has a bounded number of calls.
  has_turn = has_turn || messages_ == 0;
  while (!has_ended_ && stream_ != nullptr && reads_ > 0) {
    // Thousands of small messages may be there at once, in one frame or in a frame each.
    if (prefix_.empty() && !bytes.empty() && !std::exchange(has_turn, false) && !loop_->MayHandleMore()) {
      Pause();
      break;
    }
    if (prefix_.size() < kRpcPrefixBytes) {
      const size_t part = std::min(bytes.size(), kRpcPrefixBytes - prefix_.size());
      prefix_.append(bytes.substr(0, part));
      bytes.remove_prefix(part);
      stream_->Consume(part);
      if (prefix_.size() < kRpcPrefixBytes || !BeginMessage()) break;
    }
    const size_t part = std::min(bytes.size(), message_size_ - message_.bytes.size());
    message_.bytes.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
    if (message_size_ > kSmallMessageBytes) stream_->Consume(part);
    if (!Grant() || message_.bytes.size() < message_size_) break;
    EndMessage();
  }
  is_delivering_ = false;
  if (has_ended_ || stream_ == nullptr) {
    // Nobody reads the rest; the stream has given its bytes back.
    return;
  }
  KeepBacklog(std::move(held), bytes);
  UpdateOwed();
  DeliverEnd();
}

// Goes on when the loop has looked after others.
void RpcCall::Pause() {
  is_paused_ = true;
  Post([self = shared_from_this()] {
    self->is_paused_ = false;
    self->Take({}, /*has_turn=*/true);
  });
}

// `rest`: the end of `held`, unless that is empty. Handlers may take many small messages one by one from a large
// backlog: it is not copied for each of them.
void RpcCall::KeepBacklog(std::string held, std::string_view rest) {
  const size_t bytes = rest.size();
  if (held.empty() || bytes <= held.size() / 2) {
    backlog_ = std::string(rest);
  } else {
    backlog_ = std::move(held);
    backlog_begin_ = backlog_.size() - bytes;
  }
}

// A message that has begun must come to its end.
void RpcCall::UpdateOwed() { stream_->SetOwed(reads_ > 0 && !is_paused_ && (is_owed_ || !prefix_.empty())); }

void RpcCall::Refuse() {
  if (limits_->refused_memory != nullptr) limits_->refused_memory->fetch_add(1, std::memory_order_relaxed);
  Finish(limits_->no_memory());
}

bool RpcCall::BeginMessage() {
  message_size_ = SizeIn(prefix_);
  if (prefix_[0] != 0) {
    const bool is_announced = prefix_[0] == 1 && is_encoded_;
    Finish({.code = is_announced ? RpcCode::kUnimplemented : RpcCode::kInternal,
            .message = "Compressed messages are not supported"});
    return false;
  }
  if (message_size_ > limits_->message_bytes_max) {
    Finish({.code = RpcCode::kResourceExhausted,
            .message =
                Cat("Received message larger than max (", message_size_, " vs. ", limits_->message_bytes_max, ")")});
    return false;
  }
  message_.memory = HeldMemory(peer_->memory);
  if (!message_.memory.TrySet(message_size_)) {
    Refuse();
    return false;
  }
  // A client that only announces large messages keeps no memory from others.
  if (message_size_ > kSmallMessageBytes) message_.memory.Set(0);
  // Pages that a client announces and does not send are never touched.
  message_.bytes.reserve(message_size_);
  return true;
}

// Takes memory for the next part of a large message, which is some times what has arrived, and lets the client send it.
bool RpcCall::Grant() {
  const size_t arrived = message_.bytes.size();
  const size_t granted = message_.memory.counted();
  if (message_size_ <= kSmallMessageBytes || granted == message_size_ || 2 * arrived < granted) return true;
  const size_t part = std::min(message_size_, kPartsGranted * arrived);
  if (!message_.memory.TrySet(part)) {
    Refuse();
    return false;
  }
  stream_->SetWindow(part + kRpcPrefixBytes);
  return true;
}

void RpcCall::EndMessage() {
  if (message_size_ <= kSmallMessageBytes) stream_->Consume(message_size_);
  prefix_.clear();
  message_size_ = 0;
  --reads_;
  stream_->CountMessage();
  if (++messages_ > 1) stream_->set_long();
  if (handler_ != nullptr) handler_->OnMessage(std::exchange(message_, {}));
}

void RpcCall::OnEnd() {
  has_read_all_ = true;
  DeliverEnd();
}

void RpcCall::DeliverEnd() {
  if (!has_read_all_ || has_ended_ || has_told_end_ || is_delivering_ || is_paused_) return;
  // Whole messages may still wait for the handler.
  if (!backlog_.empty() && reads_ == 0) return;
  has_told_end_ = true;
  if (!prefix_.empty() || !backlog_.empty()) {
    return Finish({.code = RpcCode::kInternal, .message = "The message is cut off"});
  }
  if (handler_ != nullptr) handler_->OnReadEnd();
}

void RpcCall::OnShed() {
  if (!has_ended_) Refuse();
}

void RpcCall::SetPatient() {
  if (stream_ != nullptr) stream_->set_patient();
}

bool RpcCall::IsLate() {
  if (peer_->is_late) loop_->state().late_requests.fetch_add(1, std::memory_order_relaxed);
  return peer_->is_late;
}

// ---- Answering

void RpcCall::Write(OutMessage message) {
  message.head.insert(0, PrefixOf(message.size()));
  if (!loop_->IsOwnThread()) return Leave(std::move(message), std::nullopt);
  SendOutbox();
  Send(std::move(message));
}

void RpcCall::Finish(RpcStatus status) {
  if (!loop_->IsOwnThread()) return Leave(std::nullopt, std::move(status));
  SendOutbox();
  End(status);
}

void RpcCall::Finish(OutMessage message, RpcStatus status) {
  message.head.insert(0, PrefixOf(message.size()));
  if (!loop_->IsOwnThread()) return Leave(std::move(message), std::move(status));
  SendOutbox();
  Send(std::move(message));
  End(status);
}

void RpcCall::Leave(std::optional<OutMessage> message, std::optional<RpcStatus> end) {
  {
    const absl::MutexLock lock(&mutex_);
    if (outbox_.end.has_value()) return;
    if (message.has_value()) outbox_.messages.push_back(*std::move(message));
    outbox_.end = std::move(end);
    if (std::exchange(is_posted_, true)) return;
  }
  PostOutbox();
}

void RpcCall::Post(absl::AnyInvocable<void() &&> work) {
  {
    const absl::MutexLock lock(&mutex_);
    outbox_.work.push_back(std::move(work));
    if (std::exchange(is_posted_, true)) return;
  }
  PostOutbox();
}

void RpcCall::PostOutbox() {
  if (loop_->Post(shared_from_this())) return;
  // Work may hold the call, which must not hold it for ever. It is destroyed without the lock.
  Outbox dropped;
  const absl::MutexLock lock(&mutex_);
  std::swap(dropped, outbox_);
  is_posted_ = false;
}

// Messages that other threads have sent before come first, and so does their end of the call.
void RpcCall::SendOutbox() {
  std::vector<OutMessage> messages;
  std::optional<RpcStatus> end;
  {
    const absl::MutexLock lock(&mutex_);
    messages.swap(outbox_.messages);
    end.swap(outbox_.end);
  }
  for (OutMessage& message : messages) Send(std::move(message));
  if (end.has_value()) End(*end);
}

void RpcCall::OnPosted() {
  Outbox outbox;
  {
    const absl::MutexLock lock(&mutex_);
    std::swap(outbox, outbox_);
    is_posted_ = false;
  }
  for (OutMessage& message : outbox.messages) Send(std::move(message));
  for (auto& work : outbox.work) std::move(work)();
  if (outbox.end.has_value()) End(*outbox.end);
}

void RpcCall::Send(OutMessage message) {
  if (stream_ == nullptr || has_ended_) return;
  if (!std::exchange(has_sent_head_, true)) {
    Fields fields;
    AppendHead(metadata_, &fields);
    stream_->SendHead(fields, /*is_last=*/false);
  }
  stream_->Send(std::move(message));
}

void RpcCall::End(const RpcStatus& status) {
  if (std::exchange(has_ended_, true)) return;
  ClearTimer();
  message_ = {};
  std::string().swap(backlog_);
  if (stream_ == nullptr) return;
  Fields fields;
  const bool is_only = !std::exchange(has_sent_head_, true);
  if (is_only) AppendHead(metadata_, &fields);
  if (is_only && status.code == RpcCode::kUnimplemented) fields.push_back({"grpc-accept-encoding", "identity", true});
  fields.push_back({"grpc-status", kCodeTexts[static_cast<size_t>(status.code)], true});
  const std::string message = PercentEncoded(status.message);
  const std::string details = BinaryMetadata(status.details);
  if (!message.empty()) fields.push_back({"grpc-message", message});
  if (!details.empty()) fields.push_back({"grpc-status-details-bin", details});
  std::vector<std::string> encoded;
  encoded.reserve(status.trailers.size());
  for (const auto& [name, value] : status.trailers) {
    encoded.push_back(name.ends_with("-bin") ? BinaryMetadata(value) : value);
    fields.push_back({name, encoded.back()});
  }
  if (is_only) {
    stream_->SendHead(fields, /*is_last=*/true);
  } else {
    stream_->SendEnd(fields);
  }
}

// ---- The end

void RpcCall::ClearTimer() {
  if (!timer_.has_value()) return;
  loop_->CancelTimer(*timer_);
  timer_.reset();
}

void RpcCall::OnTimer() {
  timer_.reset();
  BreakOff({.code = RpcCode::kDeadlineExceeded, .message = "Deadline Exceeded"});
}

void RpcCall::OnStalled() { BreakOff(limits_->stalled()); }

void RpcCall::BreakOff(const RpcStatus& status) {
  if (has_ended_) return;
  is_cancelled_ = true;
  // First: the handler may finish the call when it is told.
  End(status);
  if (handler_ != nullptr) handler_->OnCancel();
}

void RpcCall::Cancel() {
  if (has_ended_ || is_cancelled_.exchange(true)) return;
  if (handler_ != nullptr) handler_->OnCancel();
}

void RpcCall::OnSent(uint32_t weight) {
  if (handler_ != nullptr && !is_cancelled()) handler_->OnSent(weight);
}

void RpcCall::OnClosed() {
  const std::shared_ptr<RpcCall> self = shared_from_this();
  stream_ = nullptr;
  Cancel();
  End({.code = RpcCode::kCancelled});
  const std::shared_ptr<RpcHandler> handler = std::exchange(handler_, nullptr);
  if (handler != nullptr) handler->OnDone();
}

}  // namespace armature::daemon
