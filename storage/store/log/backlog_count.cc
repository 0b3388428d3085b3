#include "storage/store/log/backlog_count.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "storage/codec/change_codec.h"
#include "storage/store/log/index_backlog.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

// Adds a record to the backlogs of those of `indexes` that it touches and that have not applied it.
void CountRecord(const std::vector<const Index*>& indexes, ChangeSequence sequence, std::string_view bytes) {
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(bytes);
  if (!record.ok()) return;
  for (const Index* const index : indexes) {
    if (sequence <= index->progress->applied()) continue;
    BacklogLoad load;
    for (const codec::IndexRowChange& change : record->index_changes) {
      if (change.index != index->descriptor.id) continue;
      load.records = 1;
      load.bytes += codec::RowBytes(change);
    }
    if (load.records > 0) index->progress->backlog().Append(sequence, record->time_ms, load);
  }
}

}  // namespace

void CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog) {
  for (const auto& [name, table] : catalog.tables()) {
    std::vector<const Index*> indexes;
    std::optional<ChangeSequence> from;
    for (const Index& index : table->global_indexes) {
      // An index that waits for its scan has no position yet. BeginIndexScan starts its count.
      const bool waits = index.build != nullptr && index.build->phase() == BuildPhase::kWaiting;
      if (index.progress == nullptr || waits) continue;
      indexes.push_back(&index);
      const ChangeSequence applied = index.progress->applied();
      from = std::min(from.value_or(applied), applied);
    }
    if (indexes.empty()) continue;
    ChangeSequence counted = *from;
    const absl::Status read = log.Read(table->descriptor.id, *from, log.watermark(), SIZE_MAX, SIZE_MAX,
                                       [&](ChangeSequence sequence, std::string_view record) {
                                         CountRecord(indexes, sequence, record);
                                         counted = sequence;
                                         return absl::OkStatus();
                                       })
                                  .status();
    if (!read.ok()) {
      LOG(ERROR) << "store: cannot read the change log, backlog counts are incomplete family=" << kLogFamily
                 << " table=" << name << " after_sequence=" << counted.value() << " status=" << read;
    }
  }
}

}  // namespace armature::store
