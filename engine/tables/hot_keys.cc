#include "engine/tables/hot_keys.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/parts.h"
#include "engine/tables/contributor_insights.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using store::KeyTraffic;
using store::KeyUse;

constexpr KeyUse kAllUses[] = {KeyUse::kRead, KeyUse::kWrite, KeyUse::kThrottled};

// A table or a global index as the owner of counts.
struct TrafficSource {
  const model::KeySchema& key;
  const std::optional<model::ContributorInsights>& insights;
  const std::shared_ptr<KeyTraffic>& traffic;

  bool Counts(KeyUse use) const {
    if (traffic == nullptr || !model::AreEnabled(insights)) return false;
    return use == KeyUse::kThrottled || insights->mode == model::InsightsMode::kAccessedAndThrottledKeys;
  }
};

TrafficSource TrafficSourceOf(const store::Table& table, const store::Index* index) {
  const model::TableDescriptor& descriptor = table.descriptor;
  if (index == nullptr) return {descriptor.key, descriptor.settings.contributor_insights, table.traffic};
  return {index->descriptor.key, index->descriptor.contributor_insights, index->traffic};
}

absl::Status CheckHotKeysRequest(const HotKeysRequest& request) {
  model::ConstraintList constraints;
  constraints.CheckMinimum(request.limit, "limit", 0);
  constraints.CheckMaximum(request.limit, "limit", kHotKeysMax);
  constraints.CheckMinimum(request.minutes, "minutes", 0);
  constraints.CheckMaximum(request.minutes, "minutes", KeyTraffic::kMinutesMax);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  return model::CheckTableReference(request.table_name);
}

// Why `source` has no counts of `use`.
absl::Status NotCountedError(const HotKeysRequest& request, const TrafficSource& source) {
  const std::string_view table = model::TableNamePart(request.table_name);
  const std::string name =
      request.index_name.empty() ? Cat("table ", table) : Cat("index ", request.index_name, " of table ", table);
  if (!model::AreEnabled(source.insights)) {
    return ValidationError(
        Cat("Contributor insights are not enabled for ", name, ". Enable them with UpdateContributorInsights."));
  }
  if (source.traffic == nullptr) return ValidationError(Cat("Nothing is counted yet for ", name));
  return ValidationError(Cat("Contributor insights of ", name,
                             " count throttled keys only. Enable them with the mode ACCESSED_AND_THROTTLED_KEYS."));
}

// Removes the incomplete character at the end of UTF-8 text.
std::string_view WithWholeCharacters(std::string_view text) {
  size_t lead = text.size();
  while (lead > 0 && text.size() - lead < 4) {
    --lead;
    const auto byte = static_cast<uint8_t>(text[lead]);
    if (byte >= 0x80 && byte < 0xC0) continue;
    const size_t length = byte < 0xC0 || byte == 0xFF ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return lead + length > text.size() ? text.substr(0, lead) : text;
  }
  return text;
}

// The front of a string or a binary as a whole component, or nullopt.
std::optional<std::string> CloseComponent(model::ScalarType type, std::string_view front) {
  if (type == model::ScalarType::kNumber || front.size() < 2) return std::nullopt;
  if (front.back() == '\0') front.remove_suffix(1);  // of an escaped zero byte, or of the end
  if (type == model::ScalarType::kString) front = WithWholeCharacters(front);
  std::string closed(front);
  closed.append({'\0', '\x01'});
  return closed;
}

HotKey MakeHotKey(const model::KeySchema& schema, bool whole, const TopKeys::Counter& counter) {
  std::vector<model::KeyAttribute> attributes = schema.partition;
  if (whole) attributes.insert(attributes.end(), schema.sort.begin(), schema.sort.end());
  return {DecodeCutKey(attributes, counter.key), KeyTraffic::UnitsOf(counter.sum), KeyTraffic::UnitsOf(counter.error),
          counter.cut};
}

void AddShares(const std::string& table_name, std::string_view index_name, const TrafficSource& source, int64_t now_ns,
               std::vector<HotKeyShare>* shares) {
  for (const KeyUse use : kAllUses) {
    if (!source.Counts(use)) continue;
    const KeyTraffic::Report report = source.traffic->Read(use, /*whole=*/false, kHotKeyMinutesDefault, now_ns);
    HotKeyShare& share = shares->emplace_back(HotKeyShare{table_name, std::string(index_name), use});
    if (report.keys.total() == 0) continue;
    const std::vector<TopKeys::Counter> largest = report.keys.Largest(1);
    share.share = static_cast<double>(largest[0].sum - largest[0].error) / static_cast<double>(report.keys.total());
  }
}

}  // namespace

std::string DecodeCutKey(const std::vector<model::KeyAttribute>& attributes, std::string_view front) {
  std::string whole(front.substr(0, codec::kPartitionHashBytes));
  std::string_view rest = front.substr(whole.size());
  std::vector<model::KeyAttribute> found;
  for (const model::KeyAttribute& attribute : attributes) {
    if (rest.empty()) break;
    std::string_view behind = rest;
    if (const absl::StatusOr<codec::DecodedComponent> component = codec::TakeKeyComponent(&behind); component.ok()) {
      whole.append(rest.substr(0, rest.size() - behind.size()));
      rest = behind;
      found.push_back(attribute);
      continue;
    }
    if (const std::optional<std::string> closed = CloseComponent(attribute.type, rest); closed.has_value()) {
      whole.append(*closed);
      found.push_back(attribute);
    }
    break;
  }
  return codec::DecodeKeyAttributes(found, whole).value_or("");
}

absl::StatusOr<HotKeys> FindHotKeys(const Parts& parts, const HotKeysRequest& request) {
  ARM_RETURN_IF_ERROR(CheckHotKeysRequest(request));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(*parts.database, request.table_name));
  const store::Table& table = *pinned.table;
  const store::Index* index = nullptr;
  if (!request.index_name.empty()) {
    index = table.FindIndex(request.index_name);
    if (index == nullptr || index->descriptor.kind == model::IndexKind::kLocal) {
      return NoInsightsIndexError(request.index_name, table.descriptor.name);
    }
  }
  const TrafficSource source = TrafficSourceOf(table, index);
  if (!source.Counts(request.use)) return NotCountedError(request, source);
  const int64_t minutes = request.minutes == 0 ? kHotKeyMinutesDefault : request.minutes;
  // Without sort attributes, a partition key is a whole key, and only partition keys are counted.
  const bool whole = request.whole_keys && !source.key.sort.empty();
  const KeyTraffic::Report report = source.traffic->Read(request.use, whole, static_cast<int>(minutes), NowNs(parts));
  HotKeys result;
  const int64_t limit = request.limit == 0 ? kHotKeysDefault : request.limit;
  for (const TopKeys::Counter& counter : report.keys.Largest(static_cast<size_t>(limit))) {
    result.keys.push_back(MakeHotKey(source.key, whole, counter));
  }
  result.total = KeyTraffic::UnitsOf(report.keys.total());
  result.missed = KeyTraffic::UnitsOf(report.missed);
  result.error_max = KeyTraffic::UnitsOf(report.keys.missing_max());
  result.seconds = report.seconds;
  result.keys_are_whole = whole || source.key.sort.empty();
  return result;
}

std::vector<HotKeyShare> HotKeySharesOf(const Parts& parts) {
  std::vector<HotKeyShare> shares;
  const std::shared_ptr<const store::CatalogSnapshot> catalog = parts.database->catalog();
  const int64_t now_ns = NowNs(parts);
  for (const auto& [name, table] : catalog->tables()) {
    AddShares(name, {}, TrafficSourceOf(*table, nullptr), now_ns, &shares);
    for (const store::Index& index : table->global_indexes) {
      AddShares(name, index.descriptor.name, TrafficSourceOf(*table, &index), now_ns, &shares);
    }
  }
  return shares;
}

}  // namespace armature::engine
