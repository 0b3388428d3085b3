#ifndef ARMATURE_DAEMON_GRPC_CONNECTION_ACCEPTOR_H_
#define ARMATURE_DAEMON_GRPC_CONNECTION_ACCEPTOR_H_

// Accepts connections for gRPC, which itself limits neither their number nor the descriptors that they use.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/grpc/call_ledger.h"
#include "daemon/grpc/first_bytes.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

// Hands connections to gRPC up to the limits of the ledger, and closes further ones at once. One thread accepts them
// and notices their end, by a duplicate of the descriptor: gRPC shuts a socket down before it closes it, and the
// duplicate sees that. So a connection uses two descriptors. A connection whose client takes nothing of what was sent
// for kStallTimeout, or that has vanished, is ended by the system.
//
// Thread-safety: owned by one thread. Lifetime: `ledger` outlives it; it outlives the gRPC server.
class ConnectionAcceptor final : public ConnectionTable {
 public:
  static constexpr absl::Duration kStallTimeout = absl::Seconds(20);

  // Listens on HOST:PORT, [IPV6]:PORT or unix:PATH. Errors: those of Listen.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Make(const std::string& address, ConnectionLedger* ledger);
  ~ConnectionAcceptor() override;
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  // Call before the server is built.
  void AddTo(grpc::ServerBuilder* builder, std::shared_ptr<grpc::ServerCredentials> credentials);
  // Accepts from now on. Call after the server was started. `sweep` is called on the acceptor's thread, and returns the
  // time to its next call. Clients that do not speak gRPC get `wrong_door`'s hint and no connection.
  using Sweep = std::function<absl::Duration()>;
  void Start(Sweep sweep, FirstBytes::Options first_bytes);
  // Accepts no more. Call before the server is shut down. Idempotent.
  void StopAccepting();

  // Called within `sweep` only, except Hasten, SinceReceivedMs and UnreadBytes.
  std::optional<TransferCounts> Transferred(const std::string& peer) const override;
  void Break(const std::string& peer) override;
  bool Bar(const std::string& peer) override;
  void LookAtAll(LookAt look) override;
  size_t connections() const override { return open_.load(std::memory_order_relaxed); }
  // Connections that were closed at once because their client is barred. Thread-safe.
  uint64_t refused_barred() const { return refused_barred_.load(std::memory_order_relaxed); }
  void Hasten() override;
  std::optional<int64_t> SinceReceivedMs(const std::string& peer) const override;
  uint64_t UnreadBytes(uint64_t most) const override;

  // The listening address with the actual port.
  const std::string& address() const { return bound_.address; }

 private:
  explicit ConnectionAcceptor(BoundSockets bound, ConnectionLedger* ledger);
  absl::Status Watch();
  void Run();
  void SweepIfDue();
  int UntilSweepMs() const;
  void AcceptSome(int listener);
  bool AcceptOne(int listener);
  // Takes over `socket`, or closes it.
  void Adopt(int socket);
  // Looks at the first bytes of a connection that gRPC does not have yet.
  void LookAtNew(int watched);
  void EndLateNew();
  void Forget(int watched);
  // Call before the descriptor is closed.
  void ForgetPeer(const std::string& peer, int watched);
  // False if another connection from the same address and port is open, to another address of the daemon.
  bool IsNameFree(const std::string& peer);
  // Ends the connection, and discards what gRPC has not read.
  static void Discard(int watched);
  void WatchListeners(bool on);
  void CloseListeners();

  const BoundSockets bound_;
  ConnectionLedger* const ledger_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_;
  int poll_ = -1;
  int wakeup_ = -1;  // an event for the thread
  std::atomic<bool> accepts_ = true;
  std::atomic<bool> ends_ = false;
  std::atomic<size_t> open_ = 0;
  std::atomic<uint64_t> refused_barred_ = 0;
  absl::Notification closed_;

  // Members of the thread.
  bool is_pausing_ = false;
  uint32_t last_number_ = 0;
  struct Connection {
    std::optional<PeerNetwork> network;
    std::string peer;
    TransferCounts former;         // of the connection that had this name just before
    uint64_t received_before = 0;  // see TransferCounts
    uint32_t number = 0;           // tells its events from those of another one with the same descriptor
  };
  // A connection that LookAtAll has not told of to the end.
  struct Ended {
    int watched = -1;  // gRPC reads what has arrived after the end
    Connection connection;
    uint64_t received = 0;
    int looks_left = 0;  // once nothing is unread
    int waits_left = 0;  // looks at unread bytes
  };
  static std::optional<TransferCounts> CountsOf(int watched, const Connection& connection);
  void NoteReceived();
  // Keeps the descriptor of a connection whose last bytes may be part of a flood. False if it need not.
  bool NoteEnded(int watched, const Connection& connection);
  std::vector<Ended>::iterator FindEnded(const std::string& peer);
  // Ends what is known of a connection that had this name, and returns what it has transferred.
  TransferCounts TakeEnded(const std::string& peer);
  void BarNetwork(const PeerNetwork& network);
  absl::flat_hash_map<int, Connection> watched_;  // by the duplicate of the descriptor
  absl::flat_hash_map<int, FirstBytes> new_;      // those that gRPC does not have yet
  FirstBytes::Options first_bytes_;
  // Changed by the thread only, which reads it without the lock. Its descriptors are open while it holds them.
  mutable absl::Mutex peers_mutex_;
  absl::flat_hash_map<std::string, int> by_peer_;
  std::atomic<bool> is_hastened_ = false;
  std::vector<Ended> ended_;
  // Clients that are refused connections. The time doubles each time.
  struct Barred {
    int64_t until_ns = 0;
    int64_t for_ns = 0;
  };
  bool IsBarred(const std::optional<PeerNetwork>& network);
  absl::flat_hash_map<PeerNetwork, Barred> barred_;
  int64_t next_sweep_ns_ = 0;
  int64_t next_note_ns_ = 0;
  Sweep sweep_;

  std::unique_ptr<ThreadPool> thread_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CONNECTION_ACCEPTOR_H_
