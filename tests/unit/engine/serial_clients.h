#ifndef ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_
#define ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_

// Clients that run random operations concurrently and record their results for FindContradiction.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/unit/engine/serial_checker.h"

namespace armature::engine {

// A change of one item.
struct Change {
  int item = 0;
  std::optional<int64_t> expected;  // expected state; absent: any
  int64_t written = 0;              // 0: only check the item
};

// The result of a write.
struct Found {
  bool done = false;
  std::vector<int64_t> states;  // of each item before the write
};

// Access to the items. An item that does not exist has the state 0.
//
// Errors: UNAVAILABLE if the outcome of the call is unknown; ABORTED if it lost a conflict and had no effect. Any other
// error fails the test. Calls are not retried. A false condition is not an error.
// Thread-safety: thread-safe.
class SerialBackend {
 public:
  virtual ~SerialBackend() = default;
  virtual absl::StatusOr<int64_t> Get(int item) = 0;
  virtual absl::StatusOr<Found> Put(const Change& change) = 0;
  virtual absl::StatusOr<std::vector<int64_t>> TransactRead(const std::vector<int>& items) = 0;
  // Each change has an expected state.
  virtual absl::StatusOr<Found> TransactWrite(const std::vector<Change>& changes) = 0;
};

// Thread-safety: thread-compatible.
class SerialClients {
 public:
  static constexpr int kItems = 50;
  static constexpr int kClients = 16;

  // `write_blindly`: clients also replace items whatever their state. The replaced state of such a write is unknown if
  // it is not answered, so this is only for backends that always answer. `items`: number of items, at least 4 and no
  // multiple of 7.
  explicit SerialClients(bool write_blindly, int items = kItems) : write_blindly_(write_blindly), items_(items) {}

  // Client i uses backend i modulo their number. It stops after `operations` operations, or when a call is not
  // answered. `meanwhile` runs concurrently. When all clients have ended, unanswered operations must have been
  // executed, or never be.
  void Run(const std::vector<SerialBackend*>& backends, uint64_t seed, int operations,
           const std::function<void()>& meanwhile = nullptr);

  // Reads each item, after all operations so far.
  void ReadAll(SerialBackend* backend);

  // Operations of all runs so far.
  const std::vector<Operation>& history() const { return history_; }
  const std::vector<Operation>& unanswered() const { return unanswered_; }
  std::string FindContradiction() const { return engine::FindContradiction(history_, unanswered_); }

 private:
  // The state of one client.
  struct Client {
    SerialBackend* backend = nullptr;
    std::mt19937_64 rng;
    std::vector<Operation> history;
    std::optional<Operation> unanswered;

    int Pick(int below) { return static_cast<int>(rng() % static_cast<uint64_t>(below)); }
  };

  void Work(int operations, Client* client);
  void DoOne(Client* client);
  std::vector<int> PickItems(Client* client);
  std::optional<int64_t> Read(int item, Client* client);
  void ReadSeveral(Client* client);
  void WriteBlindly(Client* client);
  void WriteIfUnchanged(Client* client);
  void WriteSeveral(Client* client);

  // Records a write that began at `began`.
  void Remember(int64_t began, const std::vector<Change>& changes, const absl::StatusOr<Found>& found, Client* client);
  // True if the read succeeded. Otherwise the client may have lost its backend, but nothing was changed.
  bool IsRead(const absl::Status& status, int64_t began, Client* client);

  const bool write_blindly_;
  const int items_;
  std::atomic<int64_t> time_ = 0;
  std::atomic<int64_t> state_ = 0;
  std::vector<Operation> history_;
  std::vector<Operation> unanswered_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_
