#include "storage/store/readable_rows.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

struct FamilyCount {
  int64_t rows = 0;
  size_t gaps = 0;
};

FamilyCount CountFamily(const Inspector& inspector, const std::string& family) {
  FamilyCount count;
  if (!inspector.HasFamily(family)) return count;
  const auto visit = [&count](std::string_view, std::string_view) {
    ++count.rows;
    return RowVerdict::kContinue;
  };
  // The only error is that there is no such family.
  static_cast<void>(inspector.ForEachRow(family, {}, visit, [&count](const ReadGap&) { ++count.gaps; }));
  return count;
}

}  // namespace

absl::StatusOr<ReadableRows> CountReadableRows(Volume* volume, const std::string& data_dir) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspector> inspector,
                       Inspector::Open(volume, data_dir, Inspector::IfUnreadable::kReadFiles));
  ReadableRows result;
  if (!inspector->HasFamily(kMetaFamily)) return result;
  std::map<std::string, int64_t> totals;
  std::vector<model::TableDescriptor> tables;
  const auto read = [&](std::string_view key, std::string_view value) {
    MetaRecord record = ParseMetaRecord(key, value);
    if (!record.status.ok()) return RowVerdict::kContinue;
    if (record.kind == MetaKind::kTable) tables.push_back(std::move(record.descriptor));
    if (record.kind == MetaKind::kStats) totals[record.name] = record.totals.items;
    if (record.kind == MetaKind::kSequence || record.kind == MetaKind::kCursor) {
      result.change_sequence = std::max(result.change_sequence, record.number);
    }
    return RowVerdict::kContinue;
  };
  ARM_RETURN_IF_ERROR(inspector->ForEachRow(kMetaFamily, {}, read, [](const ReadGap&) {}).status());
  for (const model::TableDescriptor& table : tables) {
    const FamilyCount rows = CountFamily(*inspector, DataFamilyName(table.id));
    ReadableTable& counted = result.tables.emplace_back();
    counted.name = table.name;
    counted.rows = totals[DataFamilyName(table.id)];
    counted.readable = rows.rows;
    counted.gaps = rows.gaps;
    for (const model::IndexDescriptor* const index : table.indexes()) {
      const std::string family = index->kind == model::IndexKind::kLocal ? LocalIndexFamilyName(table.id, index->id)
                                                                         : GlobalIndexFamilyName(table.id, index->id);
      if (CountFamily(*inspector, family).gaps > 0) ++counted.damaged_indexes;
    }
  }
  std::sort(result.tables.begin(), result.tables.end(),
            [](const ReadableTable& a, const ReadableTable& b) { return a.name < b.name; });
  return result;
}

}  // namespace armature::store
