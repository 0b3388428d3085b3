#ifndef ARMATURE_STORAGE_MODEL_STREAM_DESCRIPTOR_H_
#define ARMATURE_STORAGE_MODEL_STREAM_DESCRIPTOR_H_

// The catalog's description of a stream of changes. VisitFields: see table_settings.h.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strong_type.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_settings.h"

namespace armature::model {

// The images in the records of a stream. Values are on disk: never renumber.
enum class StreamView : uint8_t { kKeysOnly = 1, kNewImage = 2, kOldImage = 3, kNewAndOldImages = 4 };

// The name as the API writes it: KEYS_ONLY ...
constexpr std::string_view StreamViewName(StreamView view) {
  constexpr std::string_view kNames[] = {"UNKNOWN", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"};
  const auto index = static_cast<uint8_t>(view);
  return kNames[index <= 4 ? index : 0];
}

// The view called `name`; kNewAndOldImages for a name that is none, which no checked request has.
constexpr StreamView StreamViewOf(std::string_view name) {
  for (const StreamView view : {StreamView::kKeysOnly, StreamView::kNewImage, StreamView::kOldImage}) {
    if (StreamViewName(view) == name) return view;
  }
  return StreamView::kNewAndOldImages;
}

constexpr bool HasNewImages(StreamView view) {
  return view == StreamView::kNewImage || view == StreamView::kNewAndOldImages;
}
constexpr bool HasOldImages(StreamView view) {
  return view == StreamView::kOldImage || view == StreamView::kNewAndOldImages;
}

// The number of shards from a segment on.
struct ShardCount {
  SegmentId from_segment;
  uint32_t shards = 1;
  friend bool operator==(const ShardCount&, const ShardCount&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("from_segment", self.from_segment);
    visit("shards", self.shards);
  }
};

// One enabling of the stream of a table. A table has at most one that is enabled, and any number that were disabled and
// whose records are still kept; these may outlive the table.
struct StreamDescriptor {
  StreamId id;
  TableId table;
  std::string table_name;
  std::string label;  // unique among the streams of all tables that had this name
  StreamView view = StreamView::kNewAndOldImages;
  KeySchema key;  // of the table
  int64_t creation_time_ms = 0;
  // The segment and the least sequence of its first record.
  SegmentId first_segment;
  ChangeSequence first_sequence;
  // The segment and the greatest sequence of its last record. Segment 0: the stream is enabled.
  SegmentId last_segment;
  ChangeSequence last_sequence;
  int64_t ended_ms = 0;  // when it was disabled; 0: it is enabled
  Tags tags;
  std::optional<ResourcePolicy> resource_policy;  // absent: none
  std::vector<ShardCount> shard_counts;           // in ascending order
  uint32_t next_shards = 0;                       // number of shards from the next segment on; 0: as now

  // The number of shards in a segment.
  uint32_t ShardsIn(SegmentId segment) const {
    // Builds of format 6 and before have begun streams without counts; they have this number.
    constexpr uint32_t kFormerShards = 4;
    uint32_t shards = kFormerShards;
    for (const ShardCount& count : shard_counts) {
      if (count.from_segment <= segment) shards = count.shards;
    }
    return shards;
  }
  bool is_enabled() const { return last_segment == SegmentId(0); }
  friend bool operator==(const StreamDescriptor&, const StreamDescriptor&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("id", self.id);
    visit("table", self.table);
    visit("table_name", self.table_name);
    visit("label", self.label);
    visit("view", self.view);
    visit("key", self.key);
    visit("creation_time_ms", self.creation_time_ms);
    visit("first_segment", self.first_segment);
    visit("first_sequence", self.first_sequence);
    visit("last_segment", self.last_segment);
    visit("last_sequence", self.last_sequence);
    visit("ended_ms", self.ended_ms);
    visit("tags", self.tags);
    visit("resource_policy", self.resource_policy);
    visit("shard_counts", self.shard_counts);
    visit("next_shards", self.next_shards);
  }
};

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_STREAM_DESCRIPTOR_H_
