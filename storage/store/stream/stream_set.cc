#include "storage/store/stream/stream_set.h"

#include <algorithm>

namespace armature::store {

using model::StreamDescriptor;

void StreamSet::Put(StreamDescriptor stream) {
  const StreamId id = stream.id;
  by_name_[{stream.table_name, stream.label}] = id;
  if (stream.is_enabled()) {
    enabled_[stream.table] = id;
  } else if (const auto found = enabled_.find(stream.table); found != enabled_.end() && found->second == id) {
    enabled_.erase(found);
  }
  by_id_[id] = std::move(stream);
}

void StreamSet::Erase(StreamId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const StreamDescriptor& stream = found->second;
  const auto named = by_name_.find({stream.table_name, stream.label});
  if (named != by_name_.end() && named->second == id) by_name_.erase(named);
  if (stream.is_enabled()) enabled_.erase(stream.table);
  by_id_.erase(found);
}

const StreamDescriptor* StreamSet::Find(StreamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

const StreamDescriptor* StreamSet::Find(std::string_view table_name, std::string_view label) const {
  const auto found = by_name_.find({std::string(table_name), std::string(label)});
  return found == by_name_.end() ? nullptr : Find(found->second);
}

const StreamDescriptor* StreamSet::FindEnabled(TableId table) const {
  const auto found = enabled_.find(table);
  return found == enabled_.end() ? nullptr : Find(found->second);
}

std::vector<StreamDescriptor> StreamSet::OfName(std::string_view table_name) const {
  std::vector<StreamDescriptor> streams;
  for (auto it = BeginOf(table_name); it != by_name_.end() && it->first.first == table_name; ++it) {
    streams.push_back(*Find(it->second));
  }
  std::sort(streams.begin(), streams.end(),
            [](const StreamDescriptor& a, const StreamDescriptor& b) { return a.id < b.id; });
  return streams;
}

std::vector<StreamName> StreamSet::Names(const std::optional<std::string_view>& table_name, const StreamName& after,
                                         size_t max) const {
  std::vector<StreamName> names;
  auto it = by_name_.upper_bound(after);
  if (table_name.has_value() && after.first < *table_name) it = BeginOf(*table_name);
  for (; it != by_name_.end() && names.size() < max; ++it) {
    if (table_name.has_value() && it->first.first != *table_name) break;
    names.push_back(it->first);
  }
  return names;
}

std::vector<StreamId> StreamSet::EndedUntil(int64_t time_ms) const {
  std::vector<StreamId> ended;
  for (const auto& [id, stream] : by_id_) {
    if (!stream.is_enabled() && stream.ended_ms <= time_ms) ended.push_back(id);
  }
  return ended;
}

size_t StreamSet::CountOf(TableId table, std::string_view table_name) const {
  size_t count = 0;
  for (auto it = BeginOf(table_name); it != by_name_.end() && it->first.first == table_name; ++it) {
    if (Find(it->second)->table == table) ++count;
  }
  return count;
}

std::vector<StreamId> StreamSet::BeyondLimits(std::string_view table_name) const {
  std::vector<const StreamDescriptor*> ended;
  size_t of_name = 0;
  for (auto it = BeginOf(table_name); it != by_name_.end() && it->first.first == table_name; ++it, ++of_name) {
    const StreamDescriptor* const stream = Find(it->second);
    if (!stream->is_enabled()) ended.push_back(stream);
  }
  size_t excess = of_name < kOfNameMax ? 0 : of_name + 1 - kOfNameMax;
  if (excess == 0) {
    if (by_id_.size() - enabled_.size() < kEndedMax) return {};
    excess = 1;
    ended.clear();
    for (const auto& [id, stream] : by_id_) {
      if (!stream.is_enabled()) ended.push_back(&stream);
    }
  }
  excess = std::min(excess, ended.size());
  const auto is_older = [](const StreamDescriptor* a, const StreamDescriptor* b) { return a->ended_ms < b->ended_ms; };
  std::partial_sort(ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(excess), ended.end(), is_older);
  std::vector<StreamId> removed;
  for (size_t i = 0; i < excess; ++i) removed.push_back(ended[i]->id);
  return removed;
}

}  // namespace armature::store
