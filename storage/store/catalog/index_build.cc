#include "storage/store/catalog/index_build.h"

#include <cstddef>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::store {
namespace {

constexpr char kBuildVersion = 1;

}  // namespace

std::string EncodeBuildState(const BuildState& state) {
  std::string value(1, kBuildVersion);
  for (const uint64_t number :
       {static_cast<uint64_t>(state.phase), state.from_sequence.value(), state.through_sequence.value(),
        static_cast<uint64_t>(state.scanned), static_cast<uint64_t>(state.written),
        static_cast<uint64_t>(state.skipped), static_cast<uint64_t>(state.started_ms),
        static_cast<uint64_t>(state.next_key.size())}) {
    model::AppendVarint(number, &value);
  }
  value.append(state.next_key);
  return value;
}

absl::StatusOr<BuildState> ParseBuildState(std::string_view value) {
  if (value.empty() || value[0] != kBuildVersion) return DataLossError("build record: expected version 1");
  value.remove_prefix(1);
  uint64_t numbers[8] = {};
  for (uint64_t& number : numbers) {
    if (!model::TakeVarint(&value, &number)) return DataLossError("build record: expected eight varints");
  }
  if (numbers[0] > static_cast<uint64_t>(BuildPhase::kCatchingUp)) {
    return DataLossError("build record: holds a phase that this build does not know");
  }
  if (numbers[7] != value.size()) return DataLossError("build record: expected a key of the given length at its end");
  BuildState state;
  state.phase = static_cast<BuildPhase>(numbers[0]);
  state.from_sequence = ChangeSequence(numbers[1]);
  state.through_sequence = ChangeSequence(numbers[2]);
  state.scanned = static_cast<int64_t>(numbers[3]);
  state.written = static_cast<int64_t>(numbers[4]);
  state.skipped = static_cast<int64_t>(numbers[5]);
  state.started_ms = static_cast<int64_t>(numbers[6]);
  state.next_key = std::string(value);
  return state;
}

}  // namespace armature::store
