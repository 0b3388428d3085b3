#ifndef ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_
#define ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_

// Clients that do random operations at the same time, and remember what they saw for FindContradiction.

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

// What is to happen to one item.
struct Change {
  int item = 0;
  std::optional<int64_t> expected;  // Only in this state; absent: in any.
  int64_t written = 0;              // 0: the item is only checked.
};

// What happened to the items of a write.
struct Found {
  bool done = false;
  std::vector<int64_t> states;  // In which each item was.
};

// Ways to the items, which have the state 0 as long as they do not exist.
//
// Errors: UNAVAILABLE if nobody knows whether the call was carried out; ABORTED if it gave way to others and did
// nothing. Any other fails the test. No call is repeated. A false condition is no error.
// Thread-safety: thread-safe.
class SerialBackend {
 public:
  virtual ~SerialBackend() = default;
  virtual absl::StatusOr<int64_t> Get(int item) = 0;
  virtual absl::StatusOr<Found> Put(const Change& change) = 0;
  virtual absl::StatusOr<std::vector<int64_t>> TransactRead(const std::vector<int>& items) = 0;
  // Each change expects a state.
  virtual absl::StatusOr<Found> TransactWrite(const std::vector<Change>& changes) = 0;
};

// Thread-safety: thread-compatible.
class SerialClients {
 public:
  static constexpr int kItems = 50;
  static constexpr int kClients = 16;

  // Whether clients also replace items in whatever state they are. If such a write gets no answer, nobody knows what
  // it replaced, so that is for backends that always answer.
  explicit SerialClients(bool write_blindly) : write_blindly_(write_blindly) {}

  // Lets client i work with backend i modulo their number, until it has done so many operations or got no answer.
  // `meanwhile` runs beside them. When all have ended, what was not answered must be done or never will be.
  void Run(const std::vector<SerialBackend*>& backends, uint64_t seed, int operations,
           const std::function<void()>& meanwhile = nullptr);

  // Reads each item, at a time of its own after all that was done before.
  void ReadAll(SerialBackend* backend);

  // Of all runs so far.
  const std::vector<Operation>& history() const { return history_; }
  const std::vector<Operation>& unanswered() const { return unanswered_; }
  std::string FindContradiction() const { return engine::FindContradiction(history_, unanswered_); }

 private:
  // One of those at work.
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

  // Remembers a write that began at this time.
  void Remember(int64_t began, const std::vector<Change>& changes, const absl::StatusOr<Found>& found, Client* client);
  // True if the answer says what was read. Otherwise the client may have lost its backend, but nothing was changed.
  bool IsRead(const absl::Status& status, int64_t began, Client* client);

  const bool write_blindly_;
  std::atomic<int64_t> time_ = 0;
  std::atomic<int64_t> state_ = 0;
  std::vector<Operation> history_;
  std::vector<Operation> unanswered_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CLIENTS_H_
