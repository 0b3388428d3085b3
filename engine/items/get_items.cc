#include "engine/items/entry_points.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "engine/capacity.h"
#include "engine/items/constraints.h"
#include "engine/items/expressions.h"
#include "engine/items/item_key.h"
#include "engine/items/request_items_text.h"
#include "engine/read_step.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr ValidationLayer kGetLayer = LayerOf(ItemOperation::kGetItem);
constexpr ValidationLayer kBatchLayer = LayerOf(ItemOperation::kBatchGetItem);
constexpr size_t kRequestItemsShownMaxBytes = 4096;

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
                                   CheckCapacityReport(request.return_consumed_capacity, constraints);
                                   CheckLegacyShapes(request.expressions.legacy, RulesOf(kGetLayer), constraints);
                                 }));
  ARM_RETURN_IF_ERROR(CheckParameterStyles(request.expressions, kGetLayer));
  ARM_ASSIGN_OR_RETURN(const codec::CanonicalItem key,
                       codec::CanonicalizeItem(*request.key_wire, ValueTextsOf(kGetLayer)));
  ARM_ASSIGN_OR_RETURN(read->expressions, BindRequestExpressions(request.expressions, expr::kGetKinds, kGetLayer,
                                                                 &read->parts->parse_cache));
  ARM_ASSIGN_OR_RETURN(read->pinned, FindTable(*read->parts->database, *request.table_name));
  ARM_ASSIGN_OR_RETURN(read->key, EncodeKeyParameter(*read->pinned.table, model::ItemView(key.bytes)));
  ARM_RETURN_IF_ERROR(
      CheckKeysAreWhole(read->expressions.get(), read->pinned.table->descriptor.key, /*index_keys=*/false));
  return AdmitRead(*read->parts, *read->pinned.table, nullptr, read->key);
}

absl::StatusOr<GetItemResult> BuildResult(const Read& read, bool found, std::string stored) {
  GetItemResult result;
  size_t size = 0;
  if (found) {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView view, codec::ParseStoredItem(stored));
    size = view.api_size;
    result.item = AnsweredItem(read.expressions.get(), view, std::move(stored));
  }
  ARM_ASSIGN_OR_RETURN(const CapacityReport report, ParseCapacityReport(read.request.return_consumed_capacity));
  const double units = ReadUnits(ReadBlocks(size), read.request.consistent_read);
  ChargeRead(*read.parts, *read.pinned.table, nullptr, read.key, units);
  result.capacity = ReportRead(report, *read.request.table_name, nullptr, units);
  return result;
}

void FetchRow(const std::shared_ptr<Read>& read, const RequestContext& context, store::ReadMode mode) {
  std::string stored;
  const absl::StatusOr<store::GetResult> got =
      read->parts->database->rows().Get(read->pinned.table->data, read->key, mode, &stored);
  if (!got.ok()) return std::move(read->done)(got.status());
  if (*got == store::GetResult::kWouldBlock || (mode != store::ReadMode::kMayBlock && IsLongToAnswer(stored))) {
    RunOnReadPool(
        read->parts,
        [read, context] {
          absl::Status admitted = CheckStillWanted(context);
          if (admitted.ok()) admitted = AdmitRead(*read->parts, *read->pinned.table, nullptr, read->key);
          if (!admitted.ok()) return std::move(read->done)(admitted);
          FetchRow(read, context, store::ReadMode::kMayBlock);
        },
        [read](const absl::Status& status) { std::move(read->done)(status); });
    return;
  }
  std::move(read->done)(BuildResult(*read, *got == store::GetResult::kFound, std::move(stored)));
}

struct TableRead {
  PinnedTable pinned;
  std::unique_ptr<RequestExpressions> expressions;
  size_t answer = 0;  // its place among the tables of the answer
};

struct BatchRow {
  size_t table;
  std::string canonical;  // the key as canonical item bytes
  std::string key;        // the row key
};

struct BatchRead {
  Parts* parts;
  RequestContext context;
  BatchGetRequest request;
  Callback<BatchGetResult> done;
  std::vector<TableRead> tables;
  std::vector<BatchRow> rows;
  size_t next = 0;                             // first row that was not read yet
  size_t bytes = 0;                            // API size of the items
  absl::Status refused;                        // why rows were refused for lack of capacity; OK if none was
  std::vector<std::vector<std::string>> left;  // per table: keys that were not read
  std::vector<double> units;                   // per table of the answer
  BatchGetResult result;

  void End(const absl::Status& status) { std::move(done)(status); }
  void Refuse(const absl::Status& status);
};
using BatchReadPtr = std::shared_ptr<BatchRead>;

absl::Status CheckGetShape(const BatchGetRequest& request) {
  if (request.tables.empty()) return ValidationError("The requestItems parameter is required for BatchGetItem");
  model::ConstraintList constraints;
  const auto is_name = [](const TableKeys& table) { return IsRequestItemsKey(table.table_name); };
  if (!std::all_of(request.tables.begin(), request.tables.end(), is_name)) {
    AddRequestItemsKeys(RequestItemsText(request.tables, kRequestItemsShownMaxBytes), &constraints);
  }
  for (const TableKeys& table : request.tables) {
    const std::string path = Cat("requestItems.", model::Shown(table.table_name), ".member.keys");
    if (!table.key_wires.has_value()) {
      constraints.AddNull(path);
    } else {
      constraints.CheckLengthMin("'[]'", table.key_wires->size(), path, 1);
    }
    CheckLegacyShapes(table.expressions.legacy, RulesOf(kBatchLayer), &constraints);
  }
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  size_t keys = 0;
  for (const TableKeys& table : request.tables) {
    if (table.key_wires->size() > model::kBatchGetKeysMax) {
      return ValidationError(Cat(kEnvelope, "Value at 'RequestItems.", model::Shown(table.table_name),
                                 ".member.Keys' failed to satisfy constraint: Member must have length less than or "
                                 "equal to ",
                                 model::kBatchGetKeysMax));
    }
    keys += table.key_wires->size();
  }
  if (keys > model::kBatchGetKeysMax) return ValidationError("Too many items requested for the BatchGetItem call");
  return absl::OkStatus();
}

// Legacy and expression parameters must not be mixed, not even across tables.
absl::Status CheckStylesOfAll(const BatchGetRequest& request) {
  ExpressionParameters all;
  for (const TableKeys& table : request.tables) {
    if (table.expressions.projection.has_value()) all.projection.emplace();
    if (table.expressions.legacy.attributes_to_get.has_value()) all.legacy.attributes_to_get.emplace();
  }
  return CheckParameterStyles(all, kBatchLayer);
}

// Checks of one table's keys that need no catalog.
absl::Status TakeKeys(BatchRead* read, size_t table) {
  const TableKeys& request = read->request.tables[table];
  absl::flat_hash_set<std::string> known;  // canonical, so that all spellings of a number are one key
  bool repeated = false;
  for (const std::string& wire : *request.key_wires) {
    ARM_ASSIGN_OR_RETURN(codec::CanonicalItem key, codec::CanonicalizeItem(wire, ValueTextsOf(kBatchLayer)));
    repeated = !known.insert(key.bytes).second || repeated;
    read->rows.push_back({table, std::move(key.bytes), {}});
  }
  if (repeated) return ValidationError(kDuplicateKeysText);
  ARM_ASSIGN_OR_RETURN(read->tables[table].expressions, BindRequestExpressions(request.expressions, expr::kGetKinds,
                                                                               kBatchLayer, &read->parts->parse_cache));
  return absl::OkStatus();
}

// Finds each table's place in the answer. Entries that name one table, by its name and by its ARN, share the place of
// the first one.
void AssignAnswers(BatchRead* read) {
  absl::flat_hash_map<std::string_view, size_t, StringHash, std::equal_to<>> by_name;
  std::vector<BatchGetResult::Table>& answers = read->result.tables;
  for (size_t i = 0; i < read->tables.size(); ++i) {
    const std::string& sent = read->request.tables[i].table_name;
    const std::string_view name = model::LocalTableName(sent);
    size_t& answer = read->tables[i].answer;
    answer = answers.size();
    if (!name.empty()) answer = by_name.try_emplace(name, answer).first->second;
    if (answer == answers.size()) answers.push_back({sent, {}});
  }
  read->units.resize(answers.size());
}

// Keeps each item once if several entries name one table.
void DropRepeatedRows(BatchRead* read) {
  if (read->units.size() == read->tables.size()) return;
  absl::flat_hash_set<std::pair<size_t, std::string>> seen;
  std::erase_if(read->rows,
                [&](const BatchRow& row) { return !seen.emplace(read->tables[row.table].answer, row.key).second; });
}

absl::Status Prepare(BatchRead* read) {
  const BatchGetRequest& request = read->request;
  ARM_RETURN_IF_ERROR(CheckGetShape(request));
  for (const TableKeys& table : request.tables) ARM_RETURN_IF_ERROR(model::CheckTableReference(table.table_name));
  ARM_RETURN_IF_ERROR(CheckStylesOfAll(request));
  read->tables.resize(request.tables.size());
  for (size_t i = 0; i < request.tables.size(); ++i) ARM_RETURN_IF_ERROR(TakeKeys(read, i));
  for (size_t i = 0; i < request.tables.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(read->tables[i].pinned, FindTable(*read->parts->database, request.tables[i].table_name));
  }
  for (BatchRow& row : read->rows) {
    ARM_ASSIGN_OR_RETURN(row.key,
                         EncodeKeyParameter(*read->tables[row.table].pinned.table, model::ItemView(row.canonical)));
  }
  for (const TableRead& table : read->tables) {
    ARM_RETURN_IF_ERROR(CheckKeysAreWhole(table.expressions.get(), table.pinned.table->descriptor.key, false));
  }
  read->left.resize(request.tables.size());
  AssignAnswers(read);
  DropRepeatedRows(read);
  return absl::OkStatus();
}

void LeaveOut(BatchRead* read, BatchRow* row) { read->left[row->table].push_back(model::PlainItem(row->canonical)); }

void Finish(BatchRead* read) {
  const bool any = std::any_of(read->units.begin(), read->units.end(), [](double units) { return units > 0; });
  if (!any && !read->refused.ok()) return std::move(read->done)(read->refused);
  const absl::StatusOr<CapacityReport> report = ParseCapacityReport(read->request.return_consumed_capacity);
  for (size_t i = 0; i < read->units.size(); ++i) {
    if (read->units[i] == 0) continue;
    auto capacity = ReportRead(*report, read->result.tables[i].table_name, nullptr, read->units[i]);
    if (capacity.has_value()) read->result.capacity.push_back(*std::move(capacity));
  }
  for (size_t i = 0; i < read->tables.size(); ++i) {
    TableKeys& request = read->request.tables[i];
    if (read->left[i].empty()) continue;
    request.key_wires = std::move(read->left[i]);
    read->result.unprocessed.push_back(std::move(request));
  }
  std::move(read->done)(std::move(read->result));
}

// Adds the item to the answer. Returns false if it does not fit.
absl::StatusOr<bool> TakeItem(BatchRead* read, const BatchRow& row, bool found, std::string stored) {
  TableRead& table = read->tables[row.table];
  const bool consistent = read->request.tables[row.table].consistent_read.value_or(false);
  size_t size = 0;
  if (found) {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView view, codec::ParseStoredItem(stored));
    size = view.api_size;
    ItemBytes item = AnsweredItem(table.expressions.get(), view, std::move(stored));
    if (read->bytes + size > model::kBatchGetMaxBytes ||
        read->result.item_bytes + item.view().size() > model::kBatchGetMaxWireBytes) {
      return false;
    }
    const size_t item_bytes = read->result.item_bytes + item.view().size();
    if (!read->result.memory.TrySet(MemoryOfItems(item_bytes))) {
      // The client asks again for the rest when it has taken what was read.
      if (read->bytes == 0) return NoMemoryForAnswerError();
      return false;
    }
    read->bytes += size;
    read->result.item_bytes = item_bytes;
    read->result.tables[table.answer].items.push_back(std::move(item));
  }
  const double units = ReadUnits(ReadBlocks(size), consistent);
  ChargeRead(*read->parts, *table.pinned.table, nullptr, row.key, units);
  read->units[table.answer] += units;
  return true;
}

void LeaveOutRest(BatchRead* read) {
  for (; read->next < read->rows.size(); ++read->next) LeaveOut(read, &read->rows[read->next]);
}

void BatchRead::Refuse(const absl::Status& status) {
  refused = status;
  LeaveOutRest(this);
  Finish(this);
}

// A step (RunStep).
absl::StatusOr<bool> ReadRows(const BatchReadPtr& read, store::ReadMode mode) {
  for (; read->next < read->rows.size(); ++read->next) {
    BatchRow& row = read->rows[read->next];
    const TableRead& table = read->tables[row.table];
    ARM_RETURN_IF_ERROR(CheckStillWanted(read->context));
    if (absl::Status admitted = AdmitRead(*read->parts, *table.pinned.table, nullptr, row.key); !admitted.ok()) {
      read->refused = std::move(admitted);
      LeaveOut(read.get(), &row);
      continue;
    }
    if (mode == store::ReadMode::kMemoryOnly && read->bytes > kInlineBytesMax) return false;
    std::string stored;
    ARM_ASSIGN_OR_RETURN(const store::GetResult got,
                         read->parts->database->rows().Get(table.pinned.table->data, row.key, mode, &stored));
    const bool is_much = mode == store::ReadMode::kMemoryOnly && IsLongToAnswer(stored);
    if (got == store::GetResult::kWouldBlock || is_much) return false;
    ARM_ASSIGN_OR_RETURN(const bool is_taken,
                         TakeItem(read.get(), row, got == store::GetResult::kFound, std::move(stored)));
    if (!is_taken) LeaveOutRest(read.get());
    if (!is_taken) break;
  }
  Finish(read.get());
  return true;
}

}  // namespace

void RunGetItem(Parts* parts, const RequestContext& context, GetItemRequest request, Callback<GetItemResult> done) {
  auto read = std::make_shared<Read>();
  read->parts = parts;
  read->request = std::move(request);
  read->done = std::move(done);
  if (const absl::Status status = Prepare(read.get()); !status.ok()) return std::move(read->done)(status);
  FetchRow(read, context, store::ReadMode::kNoWait);
}

void RunBatchGet(Parts* parts, RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done) {
  auto read = std::make_shared<BatchRead>();
  read->parts = parts;
  read->context = std::move(context);
  read->request = std::move(request);
  read->done = std::move(done);
  read->result.memory = HeldMemory(read->context.memory);
  if (const absl::Status status = Prepare(read.get()); !status.ok()) return std::move(read->done)(status);
  RunStep<ReadRows>(RunOnReadPool, read, store::ReadMode::kMemoryOnly);
}

}  // namespace armature::engine
