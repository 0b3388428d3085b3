#include "engine/items/entry_points.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/constraints.h"
#include "engine/items/expressions.h"
#include "engine/items/item_key.h"
#include "engine/items/request_report.h"
#include "engine/items/row_commit.h"
#include "engine/items/row_write.h"
#include "engine/items/transact_common.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

struct ReadRow {
  std::string canonical;  // the key as canonical item bytes
  std::unique_ptr<RequestExpressions> expressions;
  PinnedTable pinned;
  std::string key;
  double units = 0;
};

struct ReadTransaction {
  WaitingRequests::Token token;  // first, so that it is destroyed last
  Parts* parts;
  RequestContext context;
  TransactGetRequest request;
  Callback<TransactGetResult> done;
  std::vector<ReadRow> rows;
  std::vector<absl::Status> key_problems;
  std::vector<uint64_t> locks;
  store::LockTable::Guard guard;
  DecidedOn decided_on;  // set if an item is not durable yet
  size_t bytes = 0;      // API size of the items
  TransactGetResult result;

  void End(absl::StatusOr<TransactGetResult> outcome) {
    guard.Release(store::LockTable::NextWaiter::kOnPool);
    std::move(done)(std::move(outcome));
  }
  void Refuse(const absl::Status& status) { End(status); }
};
using ReadTransactionPtr = std::shared_ptr<ReadTransaction>;

absl::Status CheckGetsShape(const TransactGetRequest& request) {
  model::ConstraintList constraints;
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  CheckActionCount(request.given, request.gets.size(), &constraints);
  if (request.gets.size() <= model::kTransactActionsMax) {
    for (size_t i = 0; i < request.gets.size(); ++i) {
      if (!request.gets[i].given) {
        constraints.AddNull(ActionPath(i, "get"));
        continue;
      }
      if (!request.gets[i].get.key_wire.has_value()) constraints.AddNull(ActionPath(i, "get.key"));
      CheckActionTable(
          request.gets[i].get.table_name, [i] { return ActionPath(i, "get.tableName"); }, &constraints);
    }
  }
  return constraints.ToStatus();
}

absl::StatusOr<ReadRow> MakeRow(GetItemRequest* get, expr::ParseCache* cache) {
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*get->table_name));
  ReadRow row;
  // Without an expression, placeholders are not an error here.
  if (!get->expressions.projection.has_value()) get->expressions = {};
  constexpr ValidationLayer kLayer = LayerOf(ItemOperation::kTransactGetItems);
  absl::StatusOr<codec::CanonicalItem> key = codec::CanonicalizeItem(*get->key_wire, ValueTextsOf(kLayer));
  if (!key.ok()) return TransactValueError(key.status(), *get->key_wire, get->expressions, expr::kGetKinds);
  row.canonical = std::move(key->bytes);
  ARM_ASSIGN_OR_RETURN(row.expressions, BindRequestExpressions(get->expressions, expr::kGetKinds, kLayer, cache));
  return row;
}

absl::Status Prepare(ReadTransaction* transaction) {
  Parts* const parts = transaction->parts;
  TransactGetRequest& request = transaction->request;
  ARM_RETURN_IF_ERROR(CheckGetsShape(request));
  for (TransactGet& get : request.gets) {
    ARM_ASSIGN_OR_RETURN(ReadRow row, MakeRow(&get.get, &parts->parse_cache));
    transaction->rows.push_back(std::move(row));
  }
  for (size_t i = 0; i < request.gets.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(transaction->rows[i].pinned, FindTable(*parts->database, *request.gets[i].get.table_name));
  }
  std::vector<ItemName> names;
  for (ReadRow& row : transaction->rows) {
    const store::Table& table = *row.pinned.table;
    ARM_RETURN_IF_ERROR(CheckNoEmptyKeys(table, model::ItemView(row.canonical)));
    absl::StatusOr<std::string> key = EncodeKeyParameter(table, model::ItemView(row.canonical));
    transaction->key_problems.push_back(
        key.ok() ? CheckKeysAreWhole(row.expressions.get(), table.descriptor.key, /*index_keys=*/false) : key.status());
    if (!key.ok()) continue;
    row.key = *std::move(key);
    names.push_back({table.descriptor.id, row.key});
    transaction->locks.push_back(parts->locks.HashRow(table.descriptor.id.value(), row.key));
  }
  return CheckItemsOnce(std::move(names));
}

// Releases the locks, and answers when all items that were read are durable.
void EndAfterReads(const ReadTransactionPtr& transaction, const absl::Status& outcome) {
  AfterQueued(transaction->parts,
              {transaction->decided_on, transaction->result.item_bytes, std::move(transaction->guard),
               transaction->context.trace},
              outcome, [transaction](const absl::Status& durable) {
                if (!durable.ok()) return transaction->End(durable);
                transaction->End(std::move(transaction->result));
              });
}

// Takes the capacity of the reads.
void Charge(const ReadTransactionPtr& transaction) {
  CapacitySums capacity(transaction->request.return_consumed_capacity, CapacityUse::kReads);
  for (size_t i = 0; i < transaction->rows.size(); ++i) {
    const ReadRow& row = transaction->rows[i];
    const store::Table& table = *row.pinned.table;
    ChargeRead(*transaction->parts, table, nullptr, row.key, row.units);
    capacity.Add(table.descriptor.id,
                 ReportRead(capacity.report(), *transaction->request.gets[i].get.table_name, nullptr, row.units));
  }
  transaction->result.capacity = capacity.Take();
}

absl::Status TakeItem(ReadTransaction* transaction, ReadRow* row, bool found, std::string stored) {
  std::optional<ItemBytes>& item = transaction->result.items.emplace_back();
  size_t size = 0;
  if (found) {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView view, codec::ParseStoredItem(stored));
    size = view.api_size;
    transaction->bytes += size;
    if (transaction->bytes > model::kTransactMaxBytes) {
      return ValidationError(
          Cat("The aggregate size of the items in the transaction cannot exceed ", model::kTransactMaxBytes, " bytes"));
    }
    item = AnsweredItem(row->expressions.get(), view, std::move(stored));
    // An item without any of the projected attributes is answered like a missing one.
    if (item->view().empty()) item.reset();
    size_t& item_bytes = transaction->result.item_bytes;
    if (item.has_value()) item_bytes += item->view().size();
    if (item_bytes > model::kTransactMaxWireBytes) {
      return ValidationError(Cat("The items in the transaction, with their numbers written out, cannot exceed ",
                                 model::kTransactMaxWireBytes, " bytes"));
    }
    if (!transaction->result.memory.TrySet(MemoryOfItems(item_bytes))) return NoMemoryForAnswerError();
  }
  row->units = kTransactionUnitsFactor * ReadUnits(ReadBlocks(size), /*consistent=*/true);
  return absl::OkStatus();
}

// OK if all tables have read capacity; otherwise the cancellation with a reason for each action.
absl::Status Admit(const ReadTransaction& transaction) {
  const Parts& parts = *transaction.parts;
  return CanceledIfRefused(
      parts, transaction.rows.size(),
      [&transaction](size_t i) -> TouchedRow {
        return {*transaction.rows[i].pinned.table, transaction.rows[i].key};
      },
      [&parts](const TouchedRow& row) { return AdmitRead(parts, row.table, nullptr, row.key); });
}

// A step (RunStep). Admission is repeated after a wait, because other requests may have used the capacity.
absl::StatusOr<bool> ReadRows(const ReadTransactionPtr& transaction, store::ReadMode mode) {
  ARM_RETURN_IF_ERROR(Admit(*transaction));
  while (transaction->result.items.size() < transaction->rows.size()) {
    ReadRow& row = transaction->rows[transaction->result.items.size()];
    std::string stored;
    ARM_ASSIGN_OR_RETURN(const store::GetResult got, ReadLocked(*transaction->parts, *row.pinned.table, row.key, mode,
                                                                &stored, &transaction->decided_on));
    const bool is_much = mode == store::ReadMode::kMemoryOnly &&
                         (transaction->bytes + stored.size() > kInlineBytesMax || IsLongToAnswer(stored));
    if (got == store::GetResult::kWouldBlock || is_much) return false;
    const absl::Status taken = TakeItem(transaction.get(), &row, got == store::GetResult::kFound, std::move(stored));
    if (!taken.ok()) {
      EndAfterReads(transaction, taken);
      return true;
    }
  }
  Charge(transaction);
  EndAfterReads(transaction, absl::OkStatus());
  return true;
}

// Reports the first invalid key, then missing capacity.
absl::Status CheckBeforeLocks(const ReadTransaction& transaction) {
  for (size_t i = 0; i < transaction.rows.size(); ++i) {
    if (!transaction.key_problems[i].ok()) {
      return CanceledByOne(i, transaction.key_problems[i], transaction.rows.size());
    }
  }
  return Admit(transaction);
}

}  // namespace

void RunTransactGet(Parts* parts, RequestContext context, TransactGetRequest request,
                    Callback<TransactGetResult> done) {
  auto transaction = std::make_shared<ReadTransaction>();
  transaction->token = parts->waiting.Enter();
  transaction->parts = parts;
  transaction->context = std::move(context);
  transaction->request = std::move(request);
  transaction->done = std::move(done);
  transaction->result.memory = HeldMemory(transaction->context.memory);
  absl::Status ready = Prepare(transaction.get());
  if (ready.ok()) ready = CheckBeforeLocks(*transaction);
  if (!ready.ok()) return transaction->End(ready);
  LockAndRun<ReadRows>(transaction, /*trace=*/nullptr);
}

}  // namespace armature::engine
