#include "daemon/http/io_loop.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "daemon/http/http_connection.h"
#include "daemon/http/transport.h"
#include "daemon/net/coarse_clock.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {
namespace {

namespace asio = boost::asio;

// A deadline is met late by at most this fraction of the shortest timeout.
constexpr int kSweepsPerTimeout = 4;
// The loop looks after this many connections were served, how many more are ready.
constexpr size_t kLookEvery = 32;
// During an overload, what is new is collected after this time.
constexpr int64_t kTurnNs = 1'000'000;
constexpr int kRefusedAtOnce = 16;

// The loop that runs on this thread, or null.
thread_local const IoLoop* running = nullptr;

std::chrono::nanoseconds SweepInterval(const HttpServerOptions& options) {
  const absl::Duration shortest =
      std::min({options.idle_timeout, options.head_timeout, options.stall_timeout, options.linger_timeout});
  return absl::ToChronoNanoseconds(std::clamp(shortest / kSweepsPerTimeout, absl::Milliseconds(5), absl::Seconds(1)));
}

// Null if no transport can be made.
std::unique_ptr<Transport> MakeTransport(const HttpDoor& door, int socket) {
  if (!door.tls) return MakePlainTransport(socket);
  const std::shared_ptr<const TlsContext> context = door.tls();
  return context == nullptr ? nullptr : context->Accept(socket);
}

}  // namespace

// The hint 1 tells asio that only one thread runs it.
IoLoop::IoLoop(std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      io_(1),
      work_(io_.get_executor()),
      sweep_timer_(io_.get_executor()),
      turn_timer_(io_.get_executor()),
      next_timer_(io_.get_executor()) {}

IoLoop::~IoLoop() = default;

void IoLoop::Run() {
  SetThreadName("armature-http");
  running = this;
  io_.run();
  {
    const absl::MutexLock lock(&mutex_);
    ended_ = true;
  }
  // Guests posted since then: each is called for each Post, since it may hold itself until then.
  CallPosted();
  running = nullptr;
}

bool IoLoop::IsOwnThread() const { return running == this; }

void IoLoop::Adopt(AcceptedSocket accepted) {
  load_.fetch_add(1, std::memory_order_relaxed);
  asio::post(io_, [this, accepted = std::move(accepted)]() mutable {
    std::unique_ptr<Transport> transport = aborted_ ? nullptr : MakeTransport(*accepted.door, accepted.socket);
    if (transport == nullptr) {
      close(accepted.socket);
      Uncount(accepted.network);
      return;
    }
    auto connection = std::make_shared<HttpConnection>(shared_from_this(), std::move(accepted), std::move(transport));
    connection->set_slot(connections_.size());
    connections_.push_back(connection);
    StartSweep();
    connection->Start();
    if (draining()) connection->Drain();
  });
}

void IoLoop::Remove(LoopConnection* connection) {
  const size_t slot = connection->slot();
  const std::shared_ptr<LoopConnection> removed = std::move(connections_[slot]);
  if (slot + 1 < connections_.size()) {
    connections_[slot] = std::move(connections_.back());
    connections_[slot]->set_slot(slot);
  }
  connections_.pop_back();
  Uncount(removed->network());
}

void IoLoop::Uncount(const std::optional<PeerNetwork>& network) {
  load_.fetch_sub(1, std::memory_order_relaxed);
  state_->ledger->Remove(network);
  // Last: the server may end then, and its owner destroys the ledger.
  state_->connections.Remove();
}

void IoLoop::Replace(LoopConnection* connection, std::shared_ptr<LoopConnection> by) {
  by->set_slot(connection->slot());
  connections_[connection->slot()] = std::move(by);
}

bool IoLoop::Post(std::shared_ptr<LoopGuest> guest) {
  absl::MutexLock lock(&mutex_);
  if (ended_) return false;
  posted_.push_back(std::move(guest));
  // One wakeup calls all that are posted before it runs.
  if (posted_.size() == 1) asio::post(io_, [this] { CallPosted(); });
  return true;
}

void IoLoop::CallPosted() {
  messages_ = 0;
  std::vector<std::shared_ptr<LoopGuest>> posted;
  {
    absl::MutexLock lock(&mutex_);
    posted.swap(posted_);
  }
  for (std::shared_ptr<LoopGuest>& guest : posted) {
    guest->OnPosted();
    guest.reset();
  }
}

// Asio asks the system for events before it runs what was posted: their answers leave together with these.
void IoLoop::FlushLater(std::shared_ptr<LoopConnection> connection) {
  if (to_flush_.empty()) asio::post(io_, [this] { FlushNow(); });
  to_flush_.push_back(std::move(connection));
}

void IoLoop::FlushNow() {
  messages_ = 0;
  std::vector<std::shared_ptr<LoopConnection>> now;
  now.swap(to_flush_);
  for (const std::shared_ptr<LoopConnection>& connection : now) connection->OnFlush();
}

// ---- Timers

IoLoop::Timers::iterator IoLoop::SetTimer(int64_t due_ns, std::weak_ptr<LoopGuest> guest) {
  const auto timer = timers_.emplace(due_ns, std::move(guest));
  if (next_timer_ns_ == 0 || due_ns < next_timer_ns_) ArmTimer();
  return timer;
}

void IoLoop::ArmTimer() {
  next_timer_ns_ = timers_.empty() || aborted_ ? 0 : timers_.begin()->first;
  if (next_timer_ns_ == 0) return;
  next_timer_.expires_after(std::chrono::nanoseconds(std::max<int64_t>(0, next_timer_ns_ - MonotonicNs())));
  next_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) CallTimers();
  });
}

void IoLoop::CallTimers() {
  const int64_t now_ns = MonotonicNs();
  while (!timers_.empty() && timers_.begin()->first <= now_ns) {
    const std::shared_ptr<LoopGuest> guest = timers_.begin()->second.lock();
    timers_.erase(timers_.begin());
    if (guest != nullptr) guest->OnTimer();
  }
  ArmTimer();
}

void IoLoop::Drain() {
  asio::post(io_, [this] {
    // A copy, because Drain may remove a connection and move the last one into its slot.
    const std::vector<std::shared_ptr<LoopConnection>> connections = connections_;
    for (const auto& connection : connections) connection->Drain();
  });
}

void IoLoop::Abort() {
  asio::post(io_, [this] {
    aborted_ = true;
    ready_.Clear();
    NoteCrowd();
    while (!connections_.empty()) connections_.back()->Close();
    sweep_timer_.cancel();
    turn_timer_.cancel();
    next_timer_.cancel();
    work_.reset();
  });
}

void IoLoop::StartSweep() {
  if (sweeping_ || aborted_) return;
  sweeping_ = true;
  sweep_timer_.expires_after(SweepInterval(state_->options));
  sweep_timer_.async_wait([this](const boost::system::error_code& ec) {
    sweeping_ = false;
    if (ec) return;
    Sweep();
    if (!connections_.empty()) StartSweep();
  });
}

void IoLoop::Sweep() {
  const int64_t now_ns = CoarseNowNs();
  for (size_t i = connections_.size(); i-- > 0;) {
    // Sweeping from the end is safe: a removal moves a connection that has already been swept.
    const std::shared_ptr<LoopConnection> connection = connections_[i];
    connection->Sweep(now_ns);
  }
}

// ---- Turns

bool IoLoop::MustWait(const std::shared_ptr<LoopGuest>& guest) {
  if (is_collecting_) {
    ready_.Add(guest, MonotonicNs());
    if (!is_looking_) PostLook();
    return true;
  }
  if (++served_ >= kLookEvery) PostLook();
  return false;
}

// Asio asks the system for events before it runs what was posted: an idle loop would have to do so, too.
void IoLoop::PostLook() {
  if (look_is_posted_ || aborted_) return;
  look_is_posted_ = true;
  asio::post(io_, [this] { Look(); });
}

void IoLoop::LookLater() {
  if (look_is_timed_ || aborted_) return;
  look_is_timed_ = true;
  turn_timer_.expires_after(std::chrono::nanoseconds(kTurnNs));
  turn_timer_.async_wait([this](const boost::system::error_code& ec) {
    look_is_timed_ = false;
    if (!ec) PostLook();
  });
}

void IoLoop::Look() {
  look_is_posted_ = false;
  is_collecting_ = is_looking_ = true;
  // Bounded: what is not an idle connection is served here, and more of it may come than can be served.
  const int64_t until_ns = MonotonicNs() + kTurnNs;
  while (io_.poll_one() > 0 && MonotonicNs() < until_ns) continue;
  is_looking_ = false;
  const auto& is_held_up = state_->options.is_held_up;
  ready_.Look(MonotonicNs(), is_held_up != nullptr && is_held_up());
  const size_t served = ServeReady();
  RefuseLate();
  NoteCrowd();
  served_ = 0;
  is_collecting_ = ready_.size() > 0;
  if (!is_collecting_) return;
  served > 0 ? PostLook() : LookLater();
}

size_t IoLoop::ServeReady() {
  const int64_t begin_ns = MonotonicNs();
  int64_t now_ns = begin_ns;
  size_t served = 0;
  // A connection that becomes ready meanwhile waits for the next look.
  const size_t served_max = ready_.size();
  while (served < served_max && (!ready_.is_overloaded() || now_ns - begin_ns < kTurnNs)) {
    const std::shared_ptr<LoopGuest> next = ready_.TakeNext(now_ns);
    if (next == nullptr) break;
    next->TakeTurn(/*is_late=*/false);
    ++served;
    now_ns = MonotonicNs();
  }
  ready_.Served(served, now_ns - begin_ns);
  return served;
}

void IoLoop::NoteCrowd() {
  if (ready_.is_overloaded() == is_crowded_) return;
  is_crowded_ = ready_.is_overloaded();
  if (state_->options.on_crowd != nullptr) state_->options.on_crowd(is_crowded_);
}

void IoLoop::RefuseLate() {
  for (int i = 0; i < kRefusedAtOnce; ++i) {
    const std::shared_ptr<LoopGuest> late = ready_.TakeLate(MonotonicNs());
    if (late == nullptr) return;
    late->TakeTurn(/*is_late=*/true);
  }
}

std::string_view IoLoop::Date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    date_ = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::FromTimeT(now), absl::UTCTimeZone());
  }
  return date_;
}

}  // namespace armature::daemon
