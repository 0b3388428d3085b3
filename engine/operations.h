#ifndef ARMATURE_ENGINE_OPERATIONS_H_
#define ARMATURE_ENGINE_OPERATIONS_H_

// The table of the daemon's operations. The protos state their names and the facts about them, once: the build makes
// the rows from the options of the methods (armature/options/v1/options.proto, make_operations.cc). The fronts, the
// request statistics, the audit log and the tests take them from here.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armature::engine {

// The service to which an operation belongs, and with it the way from a front to the engine.
enum class Plane : uint8_t {
  kItem,       // items: one, a page of them, batches and transactions
  kTable,      // tables, their settings and their backups
  kStream,     // the changes of tables
  kStatement,  // PartiQL statements, which name their tables themselves
  kAdmin,      // the daemon, its indexes and its backups; gRPC only
};

// The answer of an operation. Each takes its memory as it is made (storage/base/held_memory.h); this says what its
// front may do if there is none.
enum class AnswerKind : uint8_t {
  kFacts,         // settings, states and names; of an operation that changes nothing
  kChange,        // settings, states and names; of an operation that changes something
  kItem,          // one item that was read
  kItems,         // many items that were read
  kWrittenItem,   // one item that was written
  kWrittenItems,  // many items that were written; statements, which may also read
  kStream,        // message by message
};

struct Operation {
  std::string_view name;  // as policies, metrics and logs write it: "TagResource", "admin:Echo"
  std::string_view path;  // of the gRPC method: "/armature.api.v1.TableService/TagResource"
  Plane plane;
  AnswerKind answer;
  // The fields of the request that name resources: see the proto.
  std::string_view subject;
  std::string_view source;
  std::string_view other_source;
  bool is_audited;

  // One call that lives as long as its client wishes: its time is its life, and it is never a slow request.
  constexpr bool is_whole_stream() const { return answer == AnswerKind::kStream; }
};

// Sorted by name.
inline constexpr auto kOperations = std::to_array<Operation>({
#include "engine/operation_rows.inc"
});

static_assert(std::ranges::is_sorted(kOperations, {}, &Operation::name));

// True if the operation may be refused after it was executed, for lack of memory for its answer. Errors, and statements
// that changed nothing, may be refused in the same way.
constexpr bool OnlyReads(const Operation& operation) {
  return operation.answer == AnswerKind::kFacts || operation.answer == AnswerKind::kItem ||
         operation.answer == AnswerKind::kItems;
}

// True if the operation is refused before it runs unless there is room for a large answer.
constexpr bool HasLargeAnswer(const Operation& operation) {
  return operation.answer == AnswerKind::kItems || operation.answer == AnswerKind::kWrittenItems;
}

// The operation called `name`, or null.
constexpr const Operation* FindOperation(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kOperations, name, {}, &Operation::name);
  return found != kOperations.end() && found->name == name ? found : nullptr;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_OPERATIONS_H_
