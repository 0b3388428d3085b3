#include "engine/items/entry_points.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/capacity.h"
#include "engine/items/constraints.h"
#include "engine/items/fingerprint.h"
#include "engine/items/item_key.h"
#include "engine/items/request_report.h"
#include "engine/items/row_commit.h"
#include "engine/items/row_write.h"
#include "engine/items/transact_common.h"
#include "engine/read_step.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/keyspace.h"

namespace armature::engine {
namespace {

// Validity of a token, from the completion of its request.
constexpr int64_t kTokenLifeMs = 600'000;
constexpr size_t kSweepTokensMax = 1000;
// Bound on the bytes that the expressions of a transaction read, which takes some seconds under the locks of all its
// rows. A hundred items of 400 KB may be read a dozen times each.
constexpr size_t kEvaluationBytesMax = 1 << 30;

struct TransactRows {
  std::vector<std::unique_ptr<RowWrite>> rows;  // one per action
  // Key errors by action. They cancel the transaction, whereas an error of PrepareTransactRows refuses it.
  std::vector<absl::Status> key_problems;
};

std::string_view MemberOf(WriteKind kind) {
  constexpr std::string_view kMembers[] = {"conditionCheck", "put", "delete", "update"};
  return kMembers[static_cast<uint8_t>(kind)];
}

void CheckAction(const TransactAction& action, size_t index, model::ConstraintList* constraints) {
  const auto path = [&](std::string_view member) { return ActionPath(index, Cat(MemberOf(action.kind), ".", member)); };
  const WriteRequest& write = action.write;
  if (!write.item_wire.has_value()) {
    constraints->AddNull(path(action.kind == WriteKind::kPut ? "item" : "key"));
  }
  CheckActionTable(
      write.table_name, [&path] { return path("tableName"); }, constraints);
  if (action.kind == WriteKind::kConditionCheck && !write.expressions.condition.has_value()) {
    constraints->AddNull(path("conditionExpression"));
  }
  if (action.kind == WriteKind::kUpdate && !write.expressions.update.has_value()) {
    constraints->AddNull(path("updateExpression"));
  }
  if (!write.return_values_on_condition_check_failure.empty()) {
    CheckOptionalEnum(write.return_values_on_condition_check_failure, path("returnValuesOnConditionCheckFailure"),
                      kReturnValuesOnFailureValues, constraints);
  }
}

absl::Status CheckTransactShape(const TransactWriteRequest& request) {
  model::ConstraintList constraints;
  CheckClientRequestToken(request.client_request_token, &constraints);
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  CheckCollectionReport(request.return_item_collection_metrics, &constraints);
  CheckActionCount(request.given, request.actions.size(), &constraints);
  if (request.actions.size() <= model::kTransactActionsMax) {
    for (size_t i = 0; i < request.actions.size(); ++i) {
      if (request.actions[i].given == 1) CheckAction(request.actions[i], i, &constraints);
    }
  }
  return constraints.ToStatus();
}

absl::StatusOr<std::unique_ptr<const RowMutation>> ActionMutation(TransactAction&& action, expr::ParseCache* cache) {
  if (action.given != 1) {
    return ValidationError("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  ExpressionParameters& expressions = action.write.expressions;
  if (action.kind != WriteKind::kUpdate) expressions.update.reset();
  // Without an expression, placeholders are not an error here.
  if (!expressions.update.has_value() && !expressions.condition.has_value()) {
    DCHECK(expressions.legacy.empty()) << "actions have no legacy parameters";
    expressions.names.reset();
    expressions.values_wire.reset();
  }
  return MakeMutation(action.kind, std::move(action.write), LayerOf(ItemOperation::kTransactWriteItems), cache);
}

// Number of bytes that the transaction size limit counts.
size_t PayloadBytes(const RowMutation& mutation) {
  size_t bytes = mutation.item_or_key().bytes().size();
  const ExpressionParameters& expressions = mutation.request().expressions;
  for (const auto* const text : {&expressions.update, &expressions.condition, &expressions.values_wire}) {
    bytes += text->has_value() ? (*text)->size() : 0;
  }
  return bytes;
}

absl::Status MakeRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows) {
  size_t bytes = 0;
  rows->rows.reserve(request->actions.size());
  for (TransactAction& action : request->actions) {
    auto row = std::make_unique<RowWrite>();
    ARM_ASSIGN_OR_RETURN(row->mutation, ActionMutation(std::move(action), &parts->parse_cache));
    bytes += PayloadBytes(*row->mutation);
    rows->rows.push_back(std::move(row));
  }
  if (bytes > model::kTransactMaxBytes) {
    return ValidationError(Cat("Transaction request size cannot exceed ", model::kTransactMaxBytes, " bytes"));
  }
  return absl::OkStatus();
}

// Moves the actions out of `request`. Makes all checks that need no item. Errors, in the documented order:
// ValidationException, ResourceNotFoundException.
absl::Status PrepareTransactRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows) {
  ARM_RETURN_IF_ERROR(CheckTransactShape(*request));
  ARM_RETURN_IF_ERROR(MakeRows(parts, request, rows));
  const RowWrite* last = nullptr;
  for (const auto& row : rows->rows) {
    const std::string& name = *row->mutation->request().table_name;
    if (last != nullptr && name == *last->mutation->request().table_name) {
      row->pinned = last->pinned;
    } else {
      ARM_ASSIGN_OR_RETURN(row->pinned, FindTable(*parts->database, name));
    }
    last = row.get();
  }
  std::vector<ItemName> names;
  names.reserve(rows->rows.size());
  rows->key_problems.reserve(rows->rows.size());
  for (const auto& row : rows->rows) {
    absl::StatusOr<std::string> key = row->mutation->EncodeKey(row->table());
    // A key that was encoded has no empty attributes.
    if (!key.ok() || row->table().has_indexes()) {
      ARM_RETURN_IF_ERROR(row->mutation->CheckGivenKeys(row->table()));
    }
    rows->key_problems.push_back(key.ok() ? row->mutation->CheckSchema(row->table()) : key.status());
    if (!key.ok()) continue;
    row->key = *std::move(key);
    names.push_back({row->table().descriptor.id, row->key});
  }
  return CheckItemsOnce(std::move(names));
}

// Fingerprint of a request with a token. Requests with the same meaning have the same fingerprint, regardless of
// protocol and attribute order. `rows` were made from `request`.
std::string FingerprintOf(const TransactWriteRequest& request, const TransactRows& rows) {
  Fingerprint all;
  all.Add(request.return_consumed_capacity);
  all.Add(request.return_item_collection_metrics);
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const RowMutation& mutation = *rows.rows[i]->mutation;
    const WriteRequest& write = mutation.request();
    all.Add(SingleOperation(request.actions[i].kind));
    all.Add(model::TableNamePart(*write.table_name));
    // A table that was created again under its name is another table.
    all.Add(std::to_string(rows.rows[i]->table().descriptor.id.value()));
    all.Add(mutation.item_or_key().bytes());
    all.AddOptional(write.expressions.update);
    all.AddOptional(write.expressions.condition);
    all.Add(write.return_values_on_condition_check_failure);
    const RequestExpressions* const expressions = mutation.expressions();
    all.Add(expressions == nullptr ? std::string_view() : std::string_view(expressions->values));
    std::map<std::string_view, std::string_view> names;
    if (write.expressions.names.has_value()) {
      for (const auto& [placeholder, name] : *write.expressions.names) names.emplace(placeholder, name);
    }
    all.Add(std::to_string(names.size()));
    for (const auto& [placeholder, name] : names) {
      all.Add(placeholder);
      all.Add(name);
    }
  }
  return all.Finish();
}

// A transaction in progress.
struct Transaction final : RowJob {
  using RowJob::RowJob;

  void FillAnswer() override;
  void Answer(absl::StatusOr<ChangeSequence> outcome) override;

  RequestContext context;
  TransactWriteRequest request;
  Callback<TransactWriteResult> done;
  TransactRows actions;
  std::string token_key;    // the token within its scope; empty without a token
  std::string fingerprint;  // empty without a token
  bool has_claim = false;   // claim on the token
  std::vector<uint64_t> locks;
  size_t read = 0;  // number of rows read
  size_t read_bytes = 0;
  TransactWriteResult result;
  HeldMemory failed_memory;  // for the items of failed conditions, until the error is answered

  size_t size() const { return rows.size(); }
};
using TransactionPtr = std::shared_ptr<Transaction>;

int64_t TokenClockMs(const Parts& parts) { return parts.tokens.ClockMs(NowNs(parts)); }

// The token as stored. The bytes 0xff are in no token.
std::string TokenKeyOf(const TransactWriteRequest& request) {
  const std::string& token = *request.client_request_token;
  return request.token_scope.empty() ? token : Cat("\xff", request.token_scope, "\xff", token);
}

// OK if all tables have write capacity; otherwise the cancellation with a reason for each action.
absl::Status Admit(const Transaction& transaction) {
  const Parts& parts = *transaction.parts;
  return CanceledIfRefused(
      parts, transaction.size(),
      [&transaction](size_t i) -> TouchedRow {
        return {transaction.rows[i]->table(), transaction.rows[i]->key};
      },
      [&parts](const TouchedRow& row) { return AdmitWrite(parts, row.table, row.key); });
}

// Computes the effects of all actions. An error is reported alone, before any condition is evaluated.
absl::Status MakeEffects(const Transaction& transaction) {
  for (size_t i = 0; i < transaction.size(); ++i) {
    const absl::Status made = MakeEffect(transaction.rows[i]);
    if (!made.ok()) return CanceledByOne(i, made, transaction.size());
  }
  return absl::OkStatus();
}

// Checks all conditions and reports the failed ones together. If one fails, all reads are charged. `failed_memory`: for
// the items of the failed ones.
absl::Status JudgeConditions(const Transaction& transaction, HeldMemory* failed_memory) {
  FailedItems failed(failed_memory);
  absl::Status unwanted;
  absl::Status judged = CanceledIfAny(transaction.size(), [&](size_t i) {
    unwanted.Update(CheckStillWanted(transaction.context));
    if (unwanted.ok() && failed.is_refused()) unwanted = NoMemoryForAnswerError();
    return unwanted.ok() ? CheckCondition(*transaction.rows[i], &failed) : unwanted;
  });
  if (failed.is_refused()) unwanted.Update(NoMemoryForAnswerError());
  ARM_RETURN_IF_ERROR(unwanted);
  if (judged.ok()) return judged;
  for (const RowWrite* const row : transaction.rows) {
    ChargeWrite(*transaction.parts, row->table(), row->key, kTransactionUnitsFactor * row->lost_units());
  }
  return judged;
}

// Takes capacity of indexes for all actions, or for none. Capacity of the tables was checked before.
absl::Status TakeCapacity(const Transaction& transaction) {
  const Parts& parts = *transaction.parts;
  ARM_RETURN_IF_ERROR(CanceledIfAny(transaction.size(), [&](size_t i) {
    const RowWrite& row = *transaction.rows[i];
    const absl::Status backlogs = CheckBacklogs(parts, row);
    return backlogs.ok() ? AdmitIndexWrites(parts, row.table(), row.effect.global) : backlogs;
  }));
  for (const RowWrite* const row : transaction.rows) {
    ChargeWriteOf(parts, row->table(), row->key, kTransactionUnitsFactor * row->table_units(), row->effect.local,
                  row->effect.global);
  }
  return absl::OkStatus();
}

// All decisions made once the items are locked and read.
absl::Status DecideAll(Transaction* transaction) {
  // Admission is repeated: other requests may have used the capacity during the wait for the row locks.
  ARM_RETURN_IF_ERROR(Admit(*transaction));
  ARM_RETURN_IF_ERROR(MakeEffects(*transaction));
  ARM_RETURN_IF_ERROR(JudgeConditions(*transaction, &transaction->failed_memory));
  return TakeCapacity(*transaction);
}

void Transaction::FillAnswer() {
  CapacitySums capacity(request.return_consumed_capacity, CapacityUse::kWrites);
  CollectionReports collections(request.return_item_collection_metrics);
  for (const RowWrite* const row : rows) {
    const std::string& name = *row->mutation->request().table_name;
    capacity.Add(row->table().descriptor.id,
                 ReportWrite(capacity.report(), name, kTransactionUnitsFactor * row->table_units(), row->effect.local,
                             row->effect.global));
    collections.Add(name, *row);
  }
  result.capacity = capacity.Take();
  result.collections = collections.Take();
}

// Converts an error of the commit to a cancellation, if it was caused by an action.
absl::Status CommitError(const Transaction& transaction, const absl::Status& error) {
  const std::optional<ApiError> api_error = GetApiError(error);
  if (!api_error.has_value() || api_error->type != ApiErrorType::kItemCollectionSizeLimitExceeded) return error;
  const std::vector<CollectionName> exceeded = ExceededCollections(error);
  std::vector<absl::Status> problems(transaction.size());
  for (size_t i = 0; i < transaction.size(); ++i) {
    const RowWrite& row = *transaction.rows[i];
    if (row.effect.collection_growth <= 0) continue;
    const CollectionName collection = {NameOf(row.table().collections), index::CollectionKey(row.table(), row.key)};
    if (std::find(exceeded.begin(), exceeded.end(), collection) != exceeded.end()) problems[i] = error;
  }
  return CanceledBy(problems);
}

void Transaction::Answer(absl::StatusOr<ChangeSequence> outcome) {
  if (has_claim) {
    parts->tokens.Release(token_key);
    SweepTokensIfDue(parts);
  }
  // Last, because the engine may be destroyed after the answer.
  if (!outcome.ok()) return std::move(done)(CommitError(*this, outcome.status()));
  result.change_sequence = outcome->value();
  std::move(done)(std::move(result));
}

// Continues to read the rows. Returns false if that would block, or would be too much for the caller's thread.
absl::StatusOr<bool> ReadRows(Transaction* transaction, store::ReadMode mode, bool is_locked) {
  const std::string& metrics = transaction->request.return_item_collection_metrics;
  for (; transaction->read < transaction->size(); ++transaction->read) {
    RowWrite* const row = transaction->rows[transaction->read];
    ARM_ASSIGN_OR_RETURN(const bool read,
                         ReadBefore(*transaction->parts, mode, WantsCollection(metrics, *row), row, is_locked));
    if (read) transaction->read_bytes += row->old_value.size();
    if (!read || (mode != store::ReadMode::kMayBlock && transaction->read_bytes > kInlineBytesMax)) return false;
  }
  return true;
}

void Decide(const TransactionPtr& transaction) {
  const absl::Status decided = DecideAll(transaction.get());
  std::vector<store::WriteUnit> further;
  if (decided.ok() && transaction->request.client_request_token.has_value()) {
    const int64_t expires_ms = TokenClockMs(*transaction->parts) + kTokenLifeMs;
    transaction->parts->database->tokens().AddTo(transaction->token_key, {expires_ms, transaction->fingerprint},
                                                 &further.emplace_back(/*pin=*/nullptr));
  }
  CommitDecided(transaction, decided, std::move(further));
}

// A step (RunStep): reads all rows, then decides.
absl::StatusOr<bool> ReadAndDecide(const TransactionPtr& transaction, store::ReadMode mode) {
  ARM_ASSIGN_OR_RETURN(const bool is_read, ReadRows(transaction.get(), mode, /*is_locked=*/true));
  if (!is_read) return false;
  size_t cost = 0;
  size_t evaluated = 0;
  for (const RowWrite* const row : transaction->rows) {
    cost += DecisionCost(*row);
    evaluated += EvaluationBytes(*row);
  }
  if (evaluated > kEvaluationBytesMax) {
    CommitDecided(transaction, ValidationError(Cat("The conditions and updates of the transaction would read ",
                                                   evaluated, " bytes; maximum: ", kEvaluationBytesMax)));
    return true;
  }
  if (cost > kInlineBytesMax && mode != store::ReadMode::kMayBlock) return false;
  Decide(transaction);
  return true;
}

void Begin(const TransactionPtr& transaction) {
  const std::vector<absl::Status>& key_problems = transaction->actions.key_problems;
  for (size_t i = 0; i < key_problems.size(); ++i) {
    if (key_problems[i].ok()) continue;
    return transaction->End(CanceledByOne(i, key_problems[i], transaction->size()));
  }
  Parts* const parts = transaction->parts;
  // Checked first, so that a client that ignores throttling costs little.
  if (const absl::Status admitted = Admit(*transaction); !admitted.ok()) return transaction->End(admitted);
  transaction->locks.reserve(transaction->size());
  for (const RowWrite* const row : transaction->rows) transaction->locks.push_back(LockOf(*parts, *row));
  LockAndRun<ReadAndDecide>(transaction, transaction->trace);
}

// A step (RunStep): answers a request that was executed before. It holds no rows. Its cost is that of reading its
// items. The cost is charged but never refused: an error would tell the client that a durable transaction was not
// executed.
absl::StatusOr<bool> AnswerReplay(const TransactionPtr& transaction, store::ReadMode mode) {
  ARM_ASSIGN_OR_RETURN(const bool is_read, ReadRows(transaction.get(), mode, /*is_locked=*/false));
  if (!is_read) return false;
  CapacitySums capacity(transaction->request.return_consumed_capacity, CapacityUse::kReads);
  for (const RowWrite* const row : transaction->rows) {
    const double units = kTransactionUnitsFactor * ReadUnits(ReadBlocks(row->old_size()), /*consistent=*/true);
    ChargeRead(*transaction->parts, row->table(), nullptr, row->key, units);
    capacity.Add(row->table().descriptor.id,
                 ReportRead(capacity.report(), *row->mutation->request().table_name, nullptr, units));
  }
  transaction->result.capacity = capacity.Take();
  transaction->End(transaction->parts->database->change_log().watermark());
  return true;
}

// A step (RunStep).
absl::StatusOr<bool> LookUpToken(const TransactionPtr& transaction, store::ReadMode mode) {
  store::TokenRecord record;
  ARM_ASSIGN_OR_RETURN(const store::GetResult got,
                       transaction->parts->database->tokens().Find(transaction->token_key, mode, &record));
  if (got == store::GetResult::kWouldBlock) return false;
  if (got == store::GetResult::kMissing || record.expires_ms <= TokenClockMs(*transaction->parts)) {
    Begin(transaction);
    return true;
  }
  if (record.fingerprint != transaction->fingerprint) return IdempotentParameterMismatchError();
  RunStep<AnswerReplay>(RunOnReadPool, transaction, store::ReadMode::kMemoryOnly);
  return true;
}

void ClaimToken(const TransactionPtr& transaction) {
  using Claimed = RequestTokens::Claimed;
  const Claimed claimed =
      transaction->parts->tokens.Claim(transaction->token_key, [transaction] { ClaimToken(transaction); });
  if (claimed == Claimed::kLater) return;
  transaction->has_claim = claimed == Claimed::kYes;
  if (!transaction->has_claim) return transaction->End(TransactionInProgressError());
  RunStep<LookUpToken>(RunOnReadPool, transaction, store::ReadMode::kMemoryOnly);
}

// Runs one sweep. Returns false if there is nothing more to do now.
bool SweepOnce(Parts* parts) {
  const absl::StatusOr<store::TokenSweep> sweep = parts->database->tokens().SweepExpired(
      TokenClockMs(*parts), parts->tokens.resume(), kSweepTokensMax,
      [&](std::string_view token) { return parts->tokens.ClaimForSweep(token); });
  for (RequestTokens::Then& then : parts->tokens.ReleaseSwept()) std::move(then)();
  if (!sweep.ok()) {
    LOG_EVERY_N(ERROR, 100) << "tokens: sweep failed status=" << sweep.status();
    parts->tokens.EndSweep(parts->tokens.resume(), /*more=*/false);
    return false;
  }
  parts->tokens.EndSweep(sweep->resume, sweep->more);
  return sweep->more;
}

}  // namespace

void RunTransactWrite(Parts* parts, RequestContext context, TransactWriteRequest request,
                      Callback<TransactWriteResult> done) {
  auto transaction = std::make_shared<Transaction>(parts);
  transaction->token = parts->waiting.Enter();
  transaction->trace = context.trace;
  transaction->context = std::move(context);
  transaction->request = std::move(request);
  transaction->done = std::move(done);
  transaction->failed_memory = HeldMemory(transaction->context.memory);
  const absl::Status prepared = PrepareTransactRows(parts, &transaction->request, &transaction->actions);
  if (!prepared.ok()) return transaction->End(prepared);
  transaction->rows.reserve(transaction->actions.rows.size());
  for (const auto& row : transaction->actions.rows) transaction->rows.push_back(row.get());
  if (!transaction->request.client_request_token.has_value()) return Begin(transaction);
  transaction->fingerprint = FingerprintOf(transaction->request, transaction->actions);
  transaction->token_key = TokenKeyOf(transaction->request);
  ClaimToken(transaction);
}

void StartTokenClock(Parts* parts) {
  const absl::StatusOr<int64_t> last = parts->database->tokens().LastExpiry();
  if (!last.ok()) LOG(ERROR) << "tokens: the newest token cannot be read status=" << last.status();
  const bool has_token = last.ok() && *last >= kTokenLifeMs;
  const int64_t wall_ms =
      parts->options.unix_ms != nullptr ? parts->options.unix_ms() : absl::ToUnixMillis(absl::Now());
  parts->tokens.SetClock(has_token ? *last - kTokenLifeMs : wall_ms, NowNs(*parts));
}

void SweepTokensIfDue(Parts* parts) {
  if (!parts->tokens.BeginSweep(TokenClockMs(*parts))) return;
  RunOnReadPool(
      parts,
      [parts] {
        while (SweepOnce(parts) && parts->tokens.BeginSweep(TokenClockMs(*parts))) {
        }
      },
      [parts](const absl::Status&) { parts->tokens.EndSweep(parts->tokens.resume(), /*more=*/false); });
}

}  // namespace armature::engine
