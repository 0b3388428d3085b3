#include "engine/transact_write.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/item_collection.h"
#include "engine/request_report.h"
#include "engine/row_write.h"
#include "engine/throughput.h"
#include "engine/transact_actions.h"
#include "engine/transact_common.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/collection_error.h"
#include "storage/base/transaction_error.h"
#include "storage/store/idempotency.h"
#include "storage/store/keyspace_name.h"

namespace armature::engine {
namespace {

// Units of the table for an action, beside those of a single write. Indexes cost the same.
constexpr double kUnitsFactor = 2;
// How long a token is good for, from when its request was carried out.
constexpr int64_t kTokenLifeMs = 600'000;
constexpr size_t kSweepTokensMax = 1000;

// A transaction on its way.
struct Transaction {
  Parts* parts;
  RequestContext context;
  TransactWriteRequest request;
  Callback<TransactWriteResult> done;
  TransactRows actions;
  std::string fingerprint;  // only with a token
  bool has_claim = false;   // on the token
  std::vector<uint64_t> locks;
  store::LockTable::Guard guard;
  size_t read = 0;  // rows that were read
  TransactWriteResult result;

  std::vector<std::unique_ptr<RowWrite>>& rows() { return actions.rows; }
  size_t size() const { return actions.rows.size(); }
};
using TransactionPtr = std::shared_ptr<Transaction>;

int64_t NowMs(const Parts& parts) {
  return parts.options.unix_ms != nullptr ? parts.options.unix_ms() : absl::ToUnixMillis(absl::Now());
}

void End(const TransactionPtr& transaction, absl::StatusOr<TransactWriteResult> result) {
  Parts* const parts = transaction->parts;
  transaction->guard.Release();
  if (transaction->has_claim) {
    parts->tokens.Release(*transaction->request.client_request_token);
    SweepTokensIfDue(parts);
  }
  // The last: with the answer the engine may go.
  std::move(transaction->done)(std::move(result));
}

// Cancels the transaction if there is a problem; true if it did.
bool CancelIfAny(const TransactionPtr& transaction, const std::vector<absl::Status>& problems) {
  for (const absl::Status& problem : problems) {
    if (problem.ok()) continue;
    End(transaction, CanceledBy(problems));
    return true;
  }
  return false;
}

// Cancels the transaction if a table has no capacity for writes; true if all have.
bool Admit(const TransactionPtr& transaction) {
  std::vector<absl::Status> problems;
  for (const auto& row : transaction->rows()) problems.push_back(AdmitWrite(*transaction->parts, row->table()));
  return !CancelIfAny(transaction, problems);
}

// What each action does to its item. A fault is told alone, before any condition is looked at.
bool MakeEffects(const TransactionPtr& transaction) {
  for (size_t i = 0; i < transaction->size(); ++i) {
    const absl::Status made = MakeEffect(transaction->rows()[i].get());
    if (made.ok()) continue;
    End(transaction, CanceledByOne(i, made, transaction->size()));
    return false;
  }
  return true;
}

// All conditions; those that fail are told together. The looks are charged for.
bool JudgeConditions(const TransactionPtr& transaction) {
  std::vector<absl::Status> problems;
  bool failed = false;
  for (const auto& row : transaction->rows()) {
    problems.push_back(CheckCondition(*row));
    failed = failed || !problems.back().ok();
  }
  if (!failed) return true;
  for (const auto& row : transaction->rows()) {
    ChargeWrite(*transaction->parts, row->table(), kUnitsFactor * row->lost_units());
  }
  CancelIfAny(transaction, problems);
  return false;
}

// Capacity for all actions, or for none.
bool TakeCapacity(const TransactionPtr& transaction) {
  const Parts& parts = *transaction->parts;
  std::vector<absl::Status> problems;
  for (const auto& row : transaction->rows()) {
    absl::Status problem = CheckBacklogs(parts, *row);
    if (problem.ok()) problem = AdmitWriteOf(parts, row->table(), row->effect.global);
    problems.push_back(std::move(problem));
  }
  if (CancelIfAny(transaction, problems)) return false;
  for (const auto& row : transaction->rows()) {
    ChargeWriteOf(parts, row->table(), kUnitsFactor * row->table_units(), row->effect.local, row->effect.global);
  }
  return true;
}

std::vector<store::WriteUnit> BuildUnits(const TransactionPtr& transaction) {
  std::vector<store::WriteUnit> units;
  for (const auto& row : transaction->rows()) {
    if (!row->changes_nothing()) units.push_back(BuildUnit(row.get()));
  }
  const TransactWriteRequest& request = transaction->request;
  if (request.client_request_token.has_value()) {
    store::WriteUnit unit(/*pin=*/nullptr);
    transaction->parts->database->AddToken(
        *request.client_request_token, {NowMs(*transaction->parts) + kTokenLifeMs, transaction->fingerprint}, &unit);
    units.push_back(std::move(unit));
  }
  return units;
}

void FillReports(const TransactionPtr& transaction) {
  CapacitySums capacity(transaction->request.return_consumed_capacity, CapacityUse::kWrites);
  CollectionReports collections(transaction->request.return_item_collection_metrics);
  for (const auto& row : transaction->rows()) {
    const std::string& name = *row->mutation->request().table_name;
    capacity.Add(row->table().descriptor.id, ReportWrite(capacity.report(), name, kUnitsFactor * row->table_units(),
                                                         row->effect.local, row->effect.global));
    collections.Add(name, *row);
  }
  transaction->result.capacity = capacity.Take();
  transaction->result.collections = collections.Take();
}

// The error of the commit as a reason, if it is that of an action.
absl::Status CommitError(const TransactionPtr& transaction, const absl::Status& error) {
  const std::optional<ApiError> api_error = GetApiError(error);
  if (!api_error.has_value() || api_error->type != ApiErrorType::kItemCollectionSizeLimitExceeded) return error;
  const std::vector<CollectionName> exceeded = ExceededCollections(error);
  std::vector<absl::Status> problems(transaction->size());
  for (size_t i = 0; i < transaction->size(); ++i) {
    const RowWrite& row = *transaction->rows()[i];
    if (row.effect.collection_growth <= 0) continue;
    const CollectionName collection = {NameOf(row.table().collections), CollectionKey(row.table(), row.key)};
    if (std::find(exceeded.begin(), exceeded.end(), collection) != exceeded.end()) problems[i] = error;
  }
  return CanceledBy(problems);
}

void Decide(const TransactionPtr& transaction) {
  // Once more: others may have used it while this waited for its items.
  if (!Admit(transaction)) return;
  if (!MakeEffects(transaction) || !JudgeConditions(transaction) || !TakeCapacity(transaction)) return;
  store::Database& database = *transaction->parts->database;
  std::vector<store::WriteUnit> units = BuildUnits(transaction);
  FillReports(transaction);
  if (units.empty()) {
    transaction->result.change_sequence = database.change_log().watermark().value();
    return End(transaction, std::move(transaction->result));
  }
  for (const auto& row : transaction->rows()) ReleaseImages(row.get());
  database.CommitAll(std::move(units), [transaction](const absl::StatusOr<ChangeSequence>& sequence) {
    if (!sequence.ok()) return End(transaction, CommitError(transaction, sequence.status()));
    transaction->result.change_sequence = sequence->value();
    End(transaction, std::move(transaction->result));
  });
}

// Reads rows, from memory or from the disk, then calls `then(transaction)`.
void ReadRows(const TransactionPtr& transaction, store::ReadMode mode, void (*then)(const TransactionPtr&)) {
  const std::string& metrics = transaction->request.return_item_collection_metrics;
  for (; transaction->read < transaction->size(); ++transaction->read) {
    RowWrite* const row = transaction->rows()[transaction->read].get();
    const absl::StatusOr<bool> read = ReadBefore(*transaction->parts, mode, WantsCollection(metrics, *row), row);
    if (!read.ok()) return End(transaction, read.status());
    if (*read) continue;
    // A repeat holds no rows.
    (then == Decide ? RunHolderOnReadPool : RunOnReadPool)(
        transaction->parts, [transaction, then] { ReadRows(transaction, store::ReadMode::kMayBlock, then); },
        [transaction](const absl::Status& status) { End(transaction, status); });
    return;
  }
  then(transaction);
}

void OnLocked(const TransactionPtr& transaction, absl::StatusOr<store::LockTable::Guard> guard, uint32_t stripe) {
  if (!guard.ok()) {
    return End(transaction,
               LockError(*transaction->parts, transaction->context, guard.status(), stripe, transaction->locks));
  }
  transaction->guard = *std::move(guard);
  if (const absl::Status wanted = CheckStillWanted(transaction->context); !wanted.ok()) {
    return End(transaction, wanted);
  }
  ReadRows(transaction, store::ReadMode::kMemoryOnly, Decide);
}

void Begin(const TransactionPtr& transaction) {
  const std::vector<absl::Status>& key_problems = transaction->actions.key_problems;
  for (size_t i = 0; i < key_problems.size(); ++i) {
    if (key_problems[i].ok()) continue;
    return End(transaction, CanceledByOne(i, key_problems[i], transaction->size()));
  }
  Parts* const parts = transaction->parts;
  // At once, so that a client that goes on regardless costs little.
  if (!Admit(transaction)) return;
  for (const auto& row : transaction->rows()) transaction->locks.push_back(LockOf(*parts, *row));
  parts->locks.AcquireAll(
      transaction->locks, LockDeadline(*parts, transaction->context),
      [transaction](absl::StatusOr<store::LockTable::Guard> guard, uint32_t stripe) {
        OnLocked(transaction, std::move(guard), stripe);
      },
      sizeof(Transaction) + 2 * transaction->request.message_bytes);
}

// Cancels the repeat of a transaction if a table has no capacity for reads; true if all have.
bool AdmitReplay(const TransactionPtr& transaction) {
  std::vector<absl::Status> problems;
  for (const auto& row : transaction->rows()) {
    problems.push_back(AdmitRead(*transaction->parts, row->table(), nullptr));
  }
  return !CancelIfAny(transaction, problems);
}

// The request was carried out before: what it costs now is to look at its items.
void AnswerReplay(const TransactionPtr& transaction) {
  if (!AdmitReplay(transaction)) return;
  CapacitySums capacity(transaction->request.return_consumed_capacity, CapacityUse::kReads);
  for (const auto& row : transaction->rows()) {
    const double units = kUnitsFactor * ReadUnits(ReadBlocks(row->old_size()), /*consistent=*/true);
    ChargeRead(*transaction->parts, row->table(), nullptr, units);
    capacity.Add(row->table().descriptor.id,
                 ReportRead(capacity.report(), *row->mutation->request().table_name, nullptr, units));
  }
  transaction->result.capacity = capacity.Take();
  transaction->result.change_sequence = transaction->parts->database->change_log().watermark().value();
  End(transaction, std::move(transaction->result));
}

void LookUpToken(const TransactionPtr& transaction, store::ReadMode mode) {
  store::TokenRecord record;
  const absl::StatusOr<store::GetResult> got =
      transaction->parts->database->FindToken(*transaction->request.client_request_token, mode, &record);
  if (!got.ok()) return End(transaction, got.status());
  if (*got == store::GetResult::kWouldBlock) {
    RunOnReadPool(
        transaction->parts, [transaction] { LookUpToken(transaction, store::ReadMode::kMayBlock); },
        [transaction](const absl::Status& status) { End(transaction, status); });
    return;
  }
  if (*got == store::GetResult::kMissing || record.expires_ms <= NowMs(*transaction->parts)) return Begin(transaction);
  if (record.fingerprint != transaction->fingerprint) return End(transaction, IdempotentParameterMismatchError());
  if (AdmitReplay(transaction)) ReadRows(transaction, store::ReadMode::kMemoryOnly, AnswerReplay);
}

// One run of a sweep. False if there is nothing more to do now.
bool SweepOnce(Parts* parts) {
  std::vector<std::string> claimed;
  const absl::StatusOr<store::TokenSweep> sweep = parts->database->SweepExpiredTokens(
      NowMs(*parts), parts->tokens.resume(), kSweepTokensMax, [&](std::string_view token) {
        if (!parts->tokens.Claim(token)) return false;
        claimed.emplace_back(token);
        return true;
      });
  for (const std::string& token : claimed) parts->tokens.Release(token);
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
  auto transaction = std::make_shared<Transaction>();
  transaction->parts = parts;
  transaction->context = std::move(context);
  transaction->request = std::move(request);
  transaction->done = std::move(done);
  const absl::Status prepared = PrepareTransactRows(parts, &transaction->request, &transaction->actions);
  if (!prepared.ok()) return End(transaction, prepared);
  if (!transaction->request.client_request_token.has_value()) return Begin(transaction);
  transaction->fingerprint = FingerprintOf(transaction->request, transaction->actions);
  transaction->has_claim = parts->tokens.Claim(*transaction->request.client_request_token);
  if (!transaction->has_claim) return End(transaction, TransactionInProgressError());
  LookUpToken(transaction, store::ReadMode::kMemoryOnly);
}

void SweepTokensIfDue(Parts* parts) {
  if (!parts->tokens.BeginSweep(NowMs(*parts))) return;
  RunOnReadPool(
      parts,
      [parts] {
        while (SweepOnce(parts) && parts->tokens.BeginSweep(NowMs(*parts))) {
        }
      },
      [parts](const absl::Status&) { parts->tokens.EndSweep(parts->tokens.resume(), /*more=*/false); });
}

}  // namespace armature::engine
