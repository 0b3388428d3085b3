#include "engine/items/entry_points.h"

#include <memory>
#include <utility>

#include "engine/capacity.h"
#include "engine/items/constraints.h"
#include "engine/items/expressions.h"
#include "engine/items/item_key.h"
#include "engine/items/legacy_parameters.h"
#include "engine/throughput.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"

namespace armature::engine {
namespace {

struct Read {
  Parts* parts;
  GetItemRequest request;
  Callback<GetItemResult> done;
  std::unique_ptr<RequestExpressions> expressions;
  PinnedTable pinned;
  std::string key;
};

absl::Status Prepare(Read* read) {
  GetItemRequest& request = read->request;
  ARM_RETURN_IF_ERROR(CheckShape(request.table_name, {"key", request.key_wire.has_value()},
                                 [&request](model::ConstraintList* constraints) {
                                   CheckOptionalEnum(request.return_consumed_capacity, "returnConsumedCapacity",
                                                     kReturnConsumedCapacityValues, constraints);
                                   CheckLegacyShapes(request.expressions.legacy, constraints);
                                 }));
  ARM_RETURN_IF_ERROR(CheckParameterStyles(request.expressions));
  ARM_ASSIGN_OR_RETURN(const codec::CanonicalItem key, codec::CanonicalizeItem(*request.key_wire));
  ARM_ASSIGN_OR_RETURN(read->expressions,
                       BindRequestExpressions(request.expressions, expr::kGetKinds, &read->parts->parse_cache));
  ARM_ASSIGN_OR_RETURN(read->pinned, FindTable(*read->parts->database, *request.table_name));
  ARM_ASSIGN_OR_RETURN(read->key, EncodeKeyParameter(*read->pinned.table, model::ItemView(key.bytes)));
  return AdmitRead(*read->parts, *read->pinned.table, nullptr);
}

absl::StatusOr<GetItemResult> BuildResult(const Read& read, bool found, std::string stored) {
  GetItemResult result;
  size_t size = 0;
  if (found) {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView view, codec::ParseStoredItem(stored));
    size = view.api_size;
    result.item = AnsweredItem(read.expressions.get(), view.item, std::move(stored));
  }
  ARM_ASSIGN_OR_RETURN(const CapacityReport report, ParseCapacityReport(read.request.return_consumed_capacity));
  const double units = ReadUnits(ReadBlocks(size), read.request.consistent_read);
  ChargeRead(*read.parts, *read.pinned.table, nullptr, units);
  result.capacity = ReportRead(report, *read.request.table_name, nullptr, units);
  return result;
}

void Fetch(const std::shared_ptr<Read>& read, store::ReadMode mode) {
  std::string stored;
  const absl::StatusOr<store::GetResult> got =
      read->parts->database->Get(read->pinned.table->data, read->key, mode, &stored);
  if (!got.ok()) return std::move(read->done)(got.status());
  if (*got == store::GetResult::kWouldBlock) {
    RunOnReadPool(
        read->parts,
        [read] {
          const absl::Status admitted = AdmitRead(*read->parts, *read->pinned.table, nullptr);
          if (!admitted.ok()) return std::move(read->done)(admitted);
          Fetch(read, store::ReadMode::kMayBlock);
        },
        [read](const absl::Status& status) { std::move(read->done)(status); });
    return;
  }
  std::move(read->done)(BuildResult(*read, *got == store::GetResult::kFound, std::move(stored)));
}

}  // namespace

void RunGetItem(Parts* parts, GetItemRequest request, Callback<GetItemResult> done) {
  auto read = std::make_shared<Read>();
  read->parts = parts;
  read->request = std::move(request);
  read->done = std::move(done);
  if (const absl::Status status = Prepare(read.get()); !status.ok()) return std::move(read->done)(status);
  Fetch(read, store::ReadMode::kMemoryOnly);
}

}  // namespace armature::engine
