#include "tools/armature/copy/table_scan.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/item_digest.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

bool AreObjects(const Wire& items) {
  return std::all_of(items.begin(), items.end(), [](const Wire& item) { return item.is_object(); });
}

double UnitsOf(const Wire& page) {
  const Wire* const consumed = Find(page, "ConsumedCapacity");
  return std::max(1.0, consumed == nullptr ? 0.0 : RealIn(*consumed, "CapacityUnits"));
}

}  // namespace

absl::Status ScanSegment(Remote* remote, const SegmentToScan& segment, RateLimit* rate, StopSignal* stop,
                         absl::FunctionRef<absl::Status(const Wire& items, const Wire& next)> take) {
  Wire request = {
      {"TableName", segment.table}, {"ConsistentRead", segment.is_consistent}, {"ReturnConsumedCapacity", "TOTAL"}};
  if (segment.segments > 1) {
    request["Segment"] = segment.segment;
    request["TotalSegments"] = segment.segments;
  }
  if (!segment.start.is_null()) request["ExclusiveStartKey"] = segment.start;
  PageCycle cycle;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const Wire page, remote->Call("Scan", request));
    const Wire& items = ListIn(page, "Items");
    if (!HasList(page, "Items") || !AreObjects(items)) {
      return DataLossError(Cat("the ", remote->name(), " answered a page of ", segment.table, " that is none"));
    }
    const Wire* const last = Find(page, "LastEvaluatedKey");
    const Wire next = last != nullptr && last->is_object() && !last->empty() ? *last : Wire(nullptr);
    ARM_RETURN_IF_ERROR(take(items, next));
    if (next.is_null()) return absl::OkStatus();
    if (next == request.value("ExclusiveStartKey", Wire(nullptr)) || cycle.Repeats(next)) {
      return DataLossError(Cat("the pages of ", segment.table, " do not end: the ", remote->name(),
                               " answered the same LastEvaluatedKey again, ", WireText(next)));
    }
    request["ExclusiveStartKey"] = next;
    ARM_RETURN_IF_ERROR(stop->Wait(rate->Take(UnitsOf(page), absl::Now())));
  }
}

absl::StatusOr<std::map<std::string, Wire>> GetItems(Remote* remote, const std::string& table,
                                                     const std::vector<Wire>& keys,
                                                     const std::vector<std::string>& key_names,
                                                     const StopSignal& stop) {
  std::map<std::string, Wire> found;
  Wire left = {{table, {{"Keys", keys}, {"ConsistentRead", true}}}};
  absl::Time end = absl::Now() + remote->patience();
  for (int attempts = 1; !keys.empty(); ++attempts) {
    ARM_ASSIGN_OR_RETURN(const Wire answer, remote->Call("BatchGetItem", Wire{{"RequestItems", left}}));
    const Wire* const responses = Find(answer, "Responses");
    if (responses == nullptr || !responses->is_object()) {
      return DataLossError(Cat("the ", remote->name(), " answered no items of ", table, ", not even none"));
    }
    const size_t before = found.size();
    for (const Wire& item : ListIn(*responses, table)) {
      ARM_ASSIGN_OR_RETURN(const Wire key, KeyOf(item, key_names));
      found[CanonicalText(key)] = item;
    }
    const Wire* const unprocessed = Find(answer, "UnprocessedKeys");
    const bool is_unprocessed = unprocessed != nullptr && !unprocessed->is_null();
    // Items are deleted on the ground of this answer, so it must be beyond doubt.
    if (is_unprocessed && !unprocessed->is_object()) {
      return DataLossError(Cat("the ", remote->name(), " answered keys of ", table, " that are none"));
    }
    if (!is_unprocessed || unprocessed->empty()) {
      if (HasList(*responses, table)) break;
      return DataLossError(Cat("the ", remote->name(), " answered no items of ", table, ", not even none"));
    }
    if (found.size() > before) {
      attempts = 1;
      end = absl::Now() + remote->patience();
    }
    left = *unprocessed;
    const absl::Duration pause = PauseAfter(attempts);
    if (absl::Now() + pause > end) {
      return UnreachableError(
          Cat("the ", remote->name(), " ", remote->address(), " reads no item of ", table, ": it is throttled"));
    }
    ARM_RETURN_IF_ERROR(stop.Wait(pause));
  }
  return found;
}

}  // namespace armature::cli::copy
