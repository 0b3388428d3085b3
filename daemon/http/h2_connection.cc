#include "daemon/http/h2_connection.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "daemon/http/h2_exchange.h"
#include "daemon/net/coarse_clock.h"
#include "daemon/net/wrong_door.h"

namespace armature::daemon {
namespace {

// Limits of one connection's turn.
constexpr int kH2ReadsPerTurn = 8;
constexpr int kH2FlushesPerTurn = 16;
constexpr size_t kPiecesPerWrite = 64;
// Memory of a stream and its call, and of a connection with streams, beside their messages.
constexpr size_t kStreamBytes = 4 << 10;
// The memory of a connection is counted in such steps, and less is counted only when it is half, so that most requests
// touch no shared counter.
constexpr size_t kCountedStep = 16 << 10;
// A client with open streams is asked for a sign of life after this time without one, and has the second to give it.
constexpr int64_t kSilenceNs = 60'000'000'000;
constexpr int64_t kLifeNs = 20'000'000'000;
// A client that does not answer the notice of the drain is told the last stream all the same.
constexpr int64_t kNoticeNs = 1'000'000'000;

int64_t InNs(absl::Duration time) { return absl::ToInt64Nanoseconds(time); }

}  // namespace

H2Connection::H2Connection(std::shared_ptr<IoLoop> loop, AcceptedSocket accepted, std::unique_ptr<Transport> transport,
                           std::string refusal)
    : SocketConnection(std::move(loop), accepted, std::move(transport), End::kClientHasReceived),
      refusal_(std::move(refusal)),
      peer_(std::make_shared<H2Peer>()),
      session_(this, &output_, &loop_->state().h2_limits),
      // Not all at once: connections that were opened together would come back together.
      age_max_(options().h2_age_max *
               (0.9 + 0.2 * static_cast<double>(std::hash<std::string>()(accepted.peer) % 64) / 64)),
      opened_ns_(CoarseNowNs()),
      received_ns_(opened_ns_),
      idle_since_ns_(received_ns_) {
  peer_->text = std::move(accepted.peer);
  peer_->network = network();
  peer_->memory = {loop_->state().budget, ClientOf(network())};
  peer_->certificate_names = transport_->PeerNames();
  share_ = HeldMemory(peer_->memory);
  loop_->state().h2_connections.fetch_add(1, std::memory_order_relaxed);
}

H2Connection::~H2Connection() { loop_->state().h2_connections.fetch_sub(1, std::memory_order_relaxed); }

void H2Connection::Start(std::string_view first) {
  if (!has_socket()) return Close();
  has_settings_ = first.size() > kSpeechBytes;
  is_over_ = !session_.Receive(first);
  if (loop_->draining()) Drain();
  WaitFor(Transport::Result::kWaitReadable);
}

void H2Connection::Release() {
  session_.CloseAll();
  share_.Set(0);
}

// ---- The session's host

std::shared_ptr<StreamHandler> H2Connection::OnRequest(H2Stream* stream, H2Request request) {
  idle_since_ns_ = 0;
  ++requests_;
  const MemoryBudget& budget = *loop_->state().budget;
  peer_->is_full = budget.IsFull() || (share_.is_counted() && !budget.HasRoomFor(peer_->memory.client, 0));
  if (!refusal_.empty()) return H2Exchange::Refuse(stream, request, refusal_);
  if (H2Router* const router = door_->router; router != nullptr) {
    std::shared_ptr<StreamHandler> handler = router->Open(stream, &request, peer_, loop_);
    if (handler != nullptr) return handler;
  }
  if (H2Exchange::IsGrpc(request)) return H2Exchange::Refuse(stream, request, door_->wrong_door(Speech::kHttp2));
  return H2Exchange::Open(stream, request, peer_, loop_);
}

void H2Connection::OnWork() {
  if (std::exchange(will_flush_, true)) return;
  loop_->FlushLater(shared_from_this());
}

void H2Connection::OnBroken(H2Break why) {
  loop_->state().h2_broken[static_cast<size_t>(why)].fetch_add(1, std::memory_order_relaxed);
}

bool H2Connection::MayWiden(size_t bytes) {
  // Other windows may have been widened in this turn.
  const size_t held = session_.held_bytes();
  const size_t uncounted = held - std::min(held, share_.counted());
  return loop_->state().budget->HasRoomFor(peer_->memory.client, uncounted + bytes);
}

int64_t H2Connection::NowNs() const { return CoarseNowNs(); }

// ---- Reading

void H2Connection::OnReady(bool is_writable) {
  if (is_writable) {
    if (Flush()) WaitForMore();
    return;
  }
  is_queued_ = loop_->MustWait(shared_from_this());
  if (!is_queued_) ReadSome();
}

// Reading has paused if the output was full. A connection stands in the queue once.
void H2Connection::WaitForMore() {
  if (!is_queued_ && !is_over_ && output_.size() < loop_->state().h2_limits.output_bytes_max) {
    WaitFor(Transport::Result::kWaitReadable);
  }
}

// The calls that arrive in a late turn are refused.
void H2Connection::TakeTurn(bool is_late) {
  is_queued_ = false;
  if (!is_open()) return;
  peer_->is_late = is_late;
  ReadSome();
  peer_->is_late = false;
}

void H2Connection::ReadSome() {
  auto& input = loop_->input();
  for (int i = 0; i < kH2ReadsPerTurn && !is_over_; ++i) {
    // A client that reads no answers: Flush waits for it.
    if (output_.size() >= loop_->state().h2_limits.output_bytes_max) return;
    size_t bytes = 0;
    const Transport::Result result = transport_->Read(input.data(), input.size(), &bytes);
    if (result == Transport::Result::kWaitReadable || result == Transport::Result::kWaitWritable) {
      return WaitFor(result);
    }
    if (result != Transport::Result::kDone) return Close();
    received_ns_ = CoarseNowNs();
    has_settings_ = true;
    requests_ = 0;
    is_over_ = !session_.Receive({input.data(), bytes});
    loop_->CountServed(requests_);
    CountHeld();
    if (bytes < input.size()) break;
  }
  if (!is_over_) WaitFor(Transport::Result::kWaitReadable);
}

// ---- Writing

void H2Connection::OnFlush() {
  will_flush_ = false;
  if (is_open() && Flush()) WaitForMore();
}

bool H2Connection::Flush() {
  for (int i = 0;; ++i) {
    if (i == kH2FlushesPerTurn) {
      OnWork();
      break;
    }
    if (!session_.Pull()) is_over_ = true;
    const bool has_more = session_.is_blocked();
    const Transport::Result written = WriteSome();
    if (written == Transport::Result::kFailed || written == Transport::Result::kEnded) return Close(), false;
    if (written != Transport::Result::kDone) {
      WaitFor(written);
      break;
    }
    if (!has_more) break;
  }
  CountHeld();
  if (output_.size() > 0 || (!is_over_ && !session_.is_over())) return true;
  Linger();
  return false;
}

Transport::Result H2Connection::WriteSome() {
  std::array<std::string_view, kPiecesPerWrite> pieces;
  Transport::Result result = Transport::Result::kDone;
  while (output_.size() > 0 && result == Transport::Result::kDone) {
    const size_t count = output_.Gather(pieces);
    size_t sent = 0;
    result = transport_->Write({pieces.data(), count}, &sent);
    if (sent > 0) {
      output_.Advance(sent);
      received_ns_ = CoarseNowNs();  // as good a sign of life
    }
    SetWriteDeadline(sent);
  }
  return result;
}

void H2Connection::SetWriteDeadline(size_t sent) {
  if (output_.size() == 0) {
    write_deadline_ns_ = writing_since_ns_ = 0;
    return;
  }
  const int64_t now_ns = CoarseNowNs();
  // The time is that of the oldest bytes, not since the output was empty.
  waiting_bytes_ -= std::min(sent, waiting_bytes_);
  if (waiting_bytes_ == 0) {
    waiting_bytes_ = output_.size();
    writing_since_ns_ = now_ns;
  }
  write_deadline_ns_ = loop_->state().h2_limits.pace.Deadline(write_deadline_ns_, sent, now_ns);
}

void H2Connection::CountHeld() {
  if (!is_open()) return;
  const size_t streams = session_.streams() + static_cast<size_t>(peer_->running.load(std::memory_order_relaxed));
  const size_t bytes = session_.held_bytes() + session_.head_bytes() + output_.copied_bytes() + streams * kStreamBytes;
  if (bytes <= share_.counted() && 2 * bytes >= share_.counted()) return;
  const bool has_grown = bytes > share_.counted();
  share_.Set(HeldMemory::Counts(bytes) ? bytes + kCountedStep - bytes % kCountedStep : 0);
  if (has_grown && !loop_->state().budget->HasRoomFor(peer_->memory.client, 0)) {
    OnBroken(H2Break::kMemory);
    session_.Shed();
  }
}

// ---- Time

void H2Connection::Drain() {
  if (is_draining_ || !is_open()) return;
  is_draining_ = true;
  drained_ns_ = CoarseNowNs();
  session_.BeginDrain();
}

void H2Connection::Sweep(int64_t now_ns) {
  const std::shared_ptr<SocketConnection> self = shared_from_this();
  if (is_lingering()) return SweepLinger(now_ns);
  if (write_deadline_ns_ > 0 && now_ns >= write_deadline_ns_) {
    OnBroken(H2Break::kStalled);
    return Reset();
  }
  // Calls may have ended on other threads.
  CountHeld();
  int64_t unsent_ns = session_.Sweep(now_ns);
  if (writing_since_ns_ > 0 && (unsent_ns == 0 || writing_since_ns_ < unsent_ns)) unsent_ns = writing_since_ns_;
  if (unsent_ns > 0 && now_ns - unsent_ns >= InNs(options().unread_grace) &&
      loop_->state().budget->IsTight(peer_->memory.client)) {
    OnBroken(H2Break::kMemory);
    return Reset();
  }
  SweepSilence(now_ns);
}

void H2Connection::SweepSilence(int64_t now_ns) {
  if (!has_settings_ && now_ns - received_ns_ > InNs(options().head_timeout)) return Close();
  if (is_draining_ && !session_.has_drained() && now_ns - drained_ns_ > kNoticeNs) session_.EndDrain();
  if (absl::Nanoseconds(now_ns - opened_ns_) > age_max_) Drain();
  if (session_.streams() == 0) {
    if (idle_since_ns_ == 0) idle_since_ns_ = now_ns;
    if (now_ns - idle_since_ns_ > InNs(options().idle_timeout)) Drain();
    return;
  }
  idle_since_ns_ = 0;
  if (now_ns - received_ns_ < kSilenceNs) return;
  if (!session_.awaits_ping()) {
    asked_ns_ = now_ns;
    return session_.Ping();
  }
  if (now_ns - asked_ns_ > kLifeNs) Close();
}

}  // namespace armature::daemon
