#ifndef ARMATURE_STORAGE_STORE_STREAM_STREAM_SET_H_
#define ARMATURE_STORAGE_STORE_STREAM_STREAM_SET_H_

// All streams that are kept, found by id, name and table, and the limits on their number.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strong_type.h"
#include "storage/model/stream_descriptor.h"

namespace armature::store {

// The name of a stream: its table's and its label. Names are ordered by both.
using StreamName = std::pair<std::string, std::string>;

// Not thread-safe.
class StreamSet {
 public:
  // Limit on the streams of one table, which are kept for the retention after they have ended, so on the changes of
  // this setting in that time; and on those of all tables that had the same name.
  static constexpr size_t kOfTableMax = 50;
  static constexpr size_t kOfNameMax = 100;
  // Limit on ended streams. Enabled ones are limited by the number of tables.
  static constexpr size_t kEndedMax = 10'000;

  // Adds a stream, or replaces the one with its id.
  void Put(model::StreamDescriptor stream);
  void Erase(StreamId id);

  // Null if there is none. Valid until the set changes.
  const model::StreamDescriptor* Find(StreamId id) const;
  const model::StreamDescriptor* Find(std::string_view table_name, std::string_view label) const;
  const model::StreamDescriptor* FindEnabled(TableId table) const;
  const std::map<StreamId, model::StreamDescriptor>& all() const { return by_id_; }

  // The streams of all tables of this name, sorted by id.
  std::vector<model::StreamDescriptor> OfName(std::string_view table_name) const;
  // The first `max` names behind `after`, in their order; `table_name`: those of this table only.
  std::vector<StreamName> Names(const std::optional<std::string_view>& table_name, const StreamName& after,
                                size_t max) const;
  // The streams that ended at `time_ms` or before.
  std::vector<StreamId> EndedUntil(int64_t time_ms) const;

  // Number of streams of one table.
  size_t CountOf(TableId table, std::string_view table_name) const;
  // The ended streams that go when another one of this name begins: the oldest ones beyond the limits.
  std::vector<StreamId> BeyondLimits(std::string_view table_name) const;

 private:
  // Names begin here in the order of a table's streams.
  auto BeginOf(std::string_view table_name) const { return by_name_.lower_bound({std::string(table_name), ""}); }

  std::map<StreamId, model::StreamDescriptor> by_id_;
  std::map<StreamName, StreamId> by_name_;
  std::map<TableId, StreamId> enabled_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_STREAM_STREAM_SET_H_
