#include "engine/backup/loaded_chunks.h"

#include "engine/parts.h"
#include "storage/base/status_macros.h"

namespace armature::engine {
namespace {

// Limit on chunks that are not applied to the global indexes.
constexpr size_t kChunksAheadMax = 40;

}  // namespace

absl::Status LoadedChunks::Add(const store::Table& table, ChangeSequence chunk) {
  waiting_.push_back(chunk);
  return AwaitAllBut(table, kChunksAheadMax);
}

absl::Status LoadedChunks::AwaitAllBut(const store::Table& table, size_t chunks_max) {
  while (waiting_.size() > chunks_max) {
    for (const store::Index& index : table.global_indexes) {
      if (index.progress != nullptr) ARM_RETURN_IF_ERROR(Await(table, *index.progress, waiting_.front()));
    }
    waiting_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status LoadedChunks::Await(const store::Table& table, store::IndexProgress& progress,
                                 ChangeSequence chunk) const {
  while (!is_stopped_()) {
    // If the table's log is empty up to the sequence, only a run of the applier advances the cursor.
    parts_->applier.OnAppended({table.descriptor.id});
    const absl::Status applied = engine::Await<absl::Status>(
        [&](auto then) { progress.WhenApplied(chunk, Deadline::After(kLoadPatience), std::move(then)); });
    if (!absl::IsDeadlineExceeded(applied)) return applied;
  }
  return absl::CancelledError("the server is about to stop");
}

}  // namespace armature::engine
