#ifndef ARMATURE_DAEMON_HTTP_LOOP_GUEST_H_
#define ARMATURE_DAEMON_HTTP_LOOP_GUEST_H_

// The interfaces through which an IoLoop calls connections and requests.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "daemon/net/connection_ledger.h"

namespace armature::daemon {

// A request, or a connection with one request at a time. Called on the loop's thread.
class LoopGuest {
 public:
  virtual ~LoopGuest() = default;
  // IoLoop::MustWait was true, and its turn has come. `is_late`: it is to be refused.
  virtual void TakeTurn(bool /*is_late*/) {}
  // After IoLoop::Post.
  virtual void OnPosted() {}
  // After IoLoop::SetTimer.
  virtual void OnTimer() {}
};

// A connection of a loop, which holds it from Adopt or Replace to Remove. Called on the loop's thread.
class LoopConnection {
 public:
  explicit LoopConnection(const std::optional<PeerNetwork>& network) : network_(network) {}
  virtual ~LoopConnection() = default;
  LoopConnection(const LoopConnection&) = delete;
  LoopConnection& operator=(const LoopConnection&) = delete;

  // The server stops: the connection ends once its requests are answered.
  virtual void Drain() = 0;
  // Ends what has passed its deadline.
  virtual void Sweep(int64_t now_ns) = 0;
  virtual void Close() = 0;
  // After IoLoop::FlushLater.
  virtual void OnFlush() {}

  // Index of this connection in the loop's list.
  size_t slot() const { return slot_; }
  void set_slot(size_t slot) { slot_ = slot; }
  const std::optional<PeerNetwork>& network() const { return network_; }

 private:
  const std::optional<PeerNetwork> network_;
  size_t slot_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_LOOP_GUEST_H_
