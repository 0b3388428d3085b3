#include "engine/items/item_collection.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "storage/codec/key_codec.h"
#include "storage/model/key_schema.h"

namespace armature::engine {

std::string CollectionKey(const store::Table& table, std::string_view row_key) {
  if (row_key.size() < codec::kPartitionHashBytes) return std::string(row_key);  // damaged
  std::string_view rest = row_key.substr(codec::kPartitionHashBytes);
  for (size_t i = 0; i < table.descriptor.key.partition.size(); ++i) {
    static_cast<void>(codec::TakeKeyComponent(&rest));
  }
  return std::string(row_key.substr(0, row_key.size() - rest.size()));
}

ItemCollectionMetrics MetricsOf(const store::Table& table, const model::ItemView& item_or_key, int64_t bytes) {
  std::vector<std::string> names;
  for (const model::KeyAttribute& attribute : table.descriptor.key.partition) names.push_back(attribute.name);
  std::sort(names.begin(), names.end());
  ItemCollectionMetrics metrics;
  metrics.key = model::PickAttributes(item_or_key, names);
  // The size was read before the write. Other writes may have shrunk the collection since.
  metrics.lower_gb = static_cast<double>(std::max<int64_t>(bytes, 0) >> 30);
  metrics.upper_gb = metrics.lower_gb + 1;
  return metrics;
}

}  // namespace armature::engine
