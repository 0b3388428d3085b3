#include "engine/partiql/statements.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/engine.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/message_memory.h"
#include "engine/partiql/plan.h"
#include "engine/partiql/plan_facts.h"
#include "engine/partiql/select_run.h"
#include "engine/partiql/statement_checks.h"
#include "engine/partiql/statement_steps.h"
#include "engine/partiql/transaction_answers.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using partiql::Plan;
using partiql::PlanKind;
using partiql::Statement;

using StatementPtr = std::shared_ptr<const Statement>;

std::string_view ActionOf(Statement::Kind kind) {
  switch (kind) {
    case Statement::Kind::kInsert:
      return "PartiQLInsert";
    case Statement::Kind::kUpdate:
      return "PartiQLUpdate";
    case Statement::Kind::kDelete:
      return "PartiQLDelete";
    default:
      return "PartiQLSelect";
  }
}

absl::StatusOr<StatementPtr> Parse(const StatementRequest& request) {
  ARM_ASSIGN_OR_RETURN(Statement statement, partiql::ParseRequest(request));
  return std::make_shared<const Statement>(std::move(statement));
}

absl::StatusOr<Plan> Planned(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                             const StatementPtr& statement, bool in_transaction) {
  engine->CountPlan();
  absl::StatusOr<Plan> plan = partiql::MakePlan(
      *engine->database(), statement, {request.consistent_read, options.multi_attribute_indexes, in_transaction});
  if (plan.ok() && plan->write.has_value()) {
    plan->write->from_statement = true;
    plan->write->return_values_on_condition_check_failure = request.return_values_on_condition_check_failure;
  }
  return plan;
}

// Authorises, then plans. A denied statement is told nothing of the table, and not planned, unless the conditions of a
// policy ask for the facts of the plan. `transaction`: the enclosing operation, if it is one.
absl::StatusOr<Plan> PlanFor(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                             const StatementPtr& statement, std::string_view transaction = {}) {
  std::optional<absl::StatusOr<Plan>> plan;
  if (options.gate) {
    const auto facts = [&](const store::Database& database) {
      if (!plan.has_value()) plan = Planned(engine, options, request, statement, !transaction.empty());
      return plan->ok() ? partiql::FactsOfPlan(database, **plan, transaction) : plan->status();
    };
    const std::string_view index = statement->index.has_value() ? std::string_view(*statement->index) : "";
    ARM_RETURN_IF_ERROR(options.gate({ActionOf(statement->kind), statement->table, index, facts}));
  }
  return plan.has_value() ? *std::move(plan) : Planned(engine, options, request, statement, !transaction.empty());
}

size_t BytesOfStatement(const StatementRequest& request) {
  size_t bytes = request.statement->size();
  if (request.parameters.has_value()) {
    for (const std::string& parameter : *request.parameters) bytes += parameter.size();
  }
  return bytes;
}

// Runs the operation that executes a write. Its errors are those of the operation.
void RunItemWrite(Engine* engine, const RequestContext& context, Plan plan, Callback<WriteResult> done) {
  switch (plan.kind) {
    case PlanKind::kPut:
      return engine->PutItem(context, *std::move(plan.write), std::move(done));
    case PlanKind::kUpdate:
      return engine->UpdateItem(context, *std::move(plan.write), std::move(done));
    default:
      return engine->DeleteItem(context, *std::move(plan.write), std::move(done));
  }
}

// The attributes that a write returns, of an answer with no other items. `memory` has taken that of their bytes; the
// rest of the message is counted even if there is no room, because the write is done.
std::string ReturnedItem(std::string_view attributes, HeldMemory* memory) {
  memory->Set(std::max(memory->counted(), MessageMemory(attributes)));
  return std::string(attributes);
}

class ExecuteStatementRun final : public partiql::StatementSteps {
 public:
  ExecuteStatementRun(StatementOptions options, ExecuteStatementRequest request, Callback<ExecuteStatementResult> done)
      : options_(std::move(options)), request_(std::move(request)), done_(std::move(done)) {}

 private:
  size_t count() const override { return 1; }
  size_t BytesOf(size_t) const override { return BytesOfStatement(request_.statement); }

  absl::Status Run(size_t) override {
    ARM_ASSIGN_OR_RETURN(const StatementPtr statement, Parse(request_.statement));
    ARM_RETURN_IF_ERROR(partiql::CheckForm(*statement));
    if (request_.next_token.has_value()) {
      ARM_ASSIGN_OR_RETURN(start_, partiql::DecodeToken(request_.statement, *request_.next_token));
    }
    ARM_ASSIGN_OR_RETURN(plan_, PlanFor(engine(), options_, request_.statement, statement));
    return absl::OkStatus();
  }

  void Finish(const absl::Status& status) override {
    if (!status.ok()) return std::move(done_)(status);
    if (request_.explain_only) {
      ExecuteStatementResult result;
      result.plan = partiql::Explained(plan_);
      return std::move(done_)(std::move(result));
    }
    if (!plan_.write.has_value()) {
      return partiql::RunSelect(engine(), context(), request_, std::move(plan_), start_, std::move(done_));
    }
    plan_.write->return_consumed_capacity = request_.return_consumed_capacity;
    auto answer = [kind = plan_.kind, done = std::move(done_)](absl::StatusOr<WriteResult> written) mutable {
      if (!written.ok()) return std::move(done)(partiql::StatementError(written.status(), kind));
      ExecuteStatementResult result;
      result.capacity = std::move(written->capacity);
      result.change_sequence = written->change_sequence;
      result.memory = std::move(written->memory);
      if (written->attributes.has_value()) {
        result.items.push_back(ReturnedItem(written->attributes->view(), &result.memory));
      }
      std::move(done)(std::move(result));
    };
    RunItemWrite(engine(), context(), std::move(plan_), std::move(answer));
  }

  const StatementOptions options_;
  const ExecuteStatementRequest request_;
  Callback<ExecuteStatementResult> done_;
  partiql::PageStart start_;
  Plan plan_;
};

// The statements of a batch or transaction that are reads and writes at once.
bool IsMixed(const std::vector<StatementPtr>& statements) {
  const Statement* first = nullptr;
  for (const StatementPtr& each : statements) {
    if (each == nullptr) continue;  // it could not be parsed
    if (first == nullptr) first = each.get();
    if (each->is_read() != first->is_read()) return true;
  }
  return false;
}

// A batch in progress. Its statements run side by side.
struct BatchRun {
  BatchStatementResult result;
  std::vector<std::optional<ConsumedCapacity>> capacity;
  std::vector<double> lost_units;  // of writes whose condition failed
  std::vector<uint64_t> sequences;
  std::vector<HeldMemory> memories;
  const std::shared_ptr<ItemRoom> room = std::make_shared<ItemRoom>(partiql::kStatementAnswerMaxBytes);  // of writes
  bool is_read = false;
  std::atomic<size_t> waiting = 0;
  Callback<BatchStatementResult> done;

  void Finish() {
    if (waiting.fetch_sub(1) != 1) return;
    DropBeyondLimit();
    SumCapacity();
    size_t memory = 0;
    for (const HeldMemory& each : memories) memory += each.counted();
    result.memory.Set(memory);
    memories.clear();
    for (const uint64_t sequence : sequences) result.change_sequence = std::max(result.change_sequence, sequence);
    std::move(done)(std::move(result));
  }

 private:
  // Reads whose items do not fit into the answer fail. Writes have left out theirs.
  void DropBeyondLimit() {
    if (!is_read) return;
    size_t bytes = 0;
    for (size_t i = 0; i < result.responses.size(); ++i) {
      BatchStatementResult::Response& response = result.responses[i];
      if (!response.item.has_value()) continue;
      bytes += response.item->size();
      if (bytes <= partiql::kStatementAnswerMaxBytes) continue;
      bytes -= response.item->size();
      response.item.reset();
      response.error = partiql::TooLargeAnswerError();
      memories[i] = HeldMemory();
    }
  }

  void SumCapacity() {
    const bool all_failed =
        std::none_of(capacity.begin(), capacity.end(), [](const auto& each) { return each.has_value(); });
    if (all_failed) return;  // also if no capacity was asked for
    std::map<std::string, std::optional<ConsumedCapacity>> sums;
    std::vector<std::string> order;
    for (size_t i = 0; i < capacity.size(); ++i) {
      ConsumedCapacity one;
      one.table_name = result.responses[i].table_name;
      // In the total alone: no part of the table or of an index has it.
      one.total = lost_units[i];
      if (!capacity[i].has_value() && one.total == 0) continue;
      const ConsumedCapacity& more = capacity[i].has_value() ? *capacity[i] : one;
      // A table that is named by its name and by its ARN is called as it is first.
      const std::string_view table = model::LocalTableName(more.table_name);
      const auto [sum, is_new] = sums.try_emplace(std::string(table));
      if (is_new) order.push_back(sum->first);
      partiql::AddCapacity(more, &sum->second);
    }
    for (const std::string& table : order) result.capacity.push_back(*std::move(sums[table]));
  }
};

absl::StatusOr<Plan> PlanOfBatch(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                                 const StatementPtr& statement) {
  ARM_RETURN_IF_ERROR(partiql::CheckForm(*statement));
  ARM_ASSIGN_OR_RETURN(Plan plan, PlanFor(engine, options, request, statement));
  if (statement->is_read() && (plan.key.empty() || !plan.is_key_only)) {
    return ValidationError(
        "Select statements within BatchExecuteStatement must specify the primary key in the where clause.");
  }
  return plan;
}

// The outcome of write `i` of a batch. Its item is left out if there is no memory for the message: the write is done,
// or its condition has failed, in any case.
void FinishWriteOfBatch(BatchRun* run, size_t i, PlanKind kind, const MemorySource& source,
                        absl::StatusOr<WriteResult> written) {
  BatchStatementResult::Response& response = run->result.responses[i];
  HeldMemory& memory = run->memories[i];
  if (written.ok()) {
    memory = std::move(written->memory);
    if (written->attributes.has_value() && memory.Cover(MessageMemory(written->attributes->view()))) {
      response.item = std::string(written->attributes->view());
    }
    run->capacity[i] = std::move(written->capacity);
    run->sequences[i] = written->change_sequence;
    return run->Finish();
  }
  response.error = partiql::StatementError(written.status(), kind);
  const std::optional<ApiError> error = GetApiError(response.error);
  if (error.has_value() && !error->item.empty()) {
    memory = HeldMemory(source);
    if (!memory.TrySet(MessageMemory(error->item))) response.error = ConditionalCheckFailedError({});
  }
  run->Finish();
}

// A write of a batch. A failed condition costs what a single write with one costs, by the item that it read.
void RunWriteOfBatch(Engine* engine, const RequestContext& context, const BatchStatementRequest& request, size_t i,
                     Plan plan, const std::shared_ptr<BatchRun>& run) {
  WriteRequest& write = *plan.write;
  write.return_consumed_capacity = request.return_consumed_capacity;
  // The error of an INSERT has no item.
  if (plan.kind == PlanKind::kPut) write.return_values_on_condition_check_failure.clear();
  write.shared_room = run->room;
  write.lost_units = &run->lost_units[i];
  auto finish = [run, i, kind = plan.kind, source = context.memory](absl::StatusOr<WriteResult> written) {
    FinishWriteOfBatch(run.get(), i, kind, source, std::move(written));
  };
  RunItemWrite(engine, context, std::move(plan), std::move(finish));
}

void RunOfBatch(Engine* engine, const RequestContext& context, const BatchStatementRequest& request, size_t i,
                Plan plan, const std::shared_ptr<BatchRun>& run) {
  // Without a key of the table, the statement will be refused.
  if (plan.row_key.empty()) run->result.responses[i].table_name.clear();
  if (plan.write.has_value()) return RunWriteOfBatch(engine, context, request, i, std::move(plan), run);
  ExecuteStatementRequest one;
  one.statement = (*request.statements)[i];
  one.return_consumed_capacity = request.return_consumed_capacity;
  RunSelect(engine, context, one, std::move(plan), {}, [run, i](absl::StatusOr<ExecuteStatementResult> page) {
    run->result.responses[i].error = page.status();
    if (page.ok()) {
      if (!page->items.empty()) run->result.responses[i].item = std::move(page->items.front());
      run->memories[i] = std::move(page->memory);
      run->capacity[i] = std::move(page->capacity);
    }
    run->Finish();
  });
}

// Parses the statements of a batch, then plans them. Errors are those of single statements.
class BatchSteps final : public partiql::StatementSteps {
 public:
  BatchSteps(StatementOptions options, BatchStatementRequest request, Callback<BatchStatementResult> done)
      : options_(std::move(options)), request_(std::move(request)), run_(std::make_shared<BatchRun>()) {
    const size_t statements = request_.statements->size();
    run_->done = std::move(done);
    run_->result.responses.resize(statements);
    run_->capacity.resize(statements);
    run_->lost_units.resize(statements);
    run_->sequences.resize(statements);
    run_->memories.resize(statements);
    parsed_.resize(statements);
    plans_.resize(statements);
  }

 private:
  size_t count() const override { return 2 * parsed_.size(); }
  size_t BytesOf(size_t step) const override { return BytesOfStatement((*request_.statements)[step % parsed_.size()]); }

  absl::Status Run(size_t step) override {
    const size_t i = step % parsed_.size();
    const StatementRequest& request = (*request_.statements)[i];
    if (step < parsed_.size()) {
      absl::StatusOr<StatementPtr> parsed = Parse(request);
      if (parsed.ok()) {
        parsed_[i] = *std::move(parsed);
      } else {
        plans_[i] = parsed.status();
      }
      return absl::OkStatus();
    }
    if (i == 0 && IsMixed(parsed_)) {
      return ValidationError("Read and write requests together in the same batch is not supported.");
    }
    if (parsed_[i] == nullptr) return absl::OkStatus();
    run_->is_read = parsed_[i]->is_read();
    plans_[i] = PlanOfBatch(engine(), options_, request, parsed_[i]);
    // A statement that is refused before it reaches its table does not name it.
    const std::optional<ApiError> error = GetApiError(plans_[i].status());
    const bool is_refused = error.has_value() && error->type == ApiErrorType::kValidation;
    if (!is_refused) run_->result.responses[i].table_name = parsed_[i]->table;
    const bool is_named = plans_[i].ok() && !plans_[i]->row_key.empty();
    const std::string_view table = model::LocalTableName(parsed_[i]->table);
    if (is_named && !items_.emplace(table, plans_[i]->row_key).second) {
      return ValidationError(kDuplicateKeysText);
    }
    return absl::OkStatus();
  }

  void Finish(const absl::Status& status) override {
    if (!status.ok()) return std::move(run_->done)(status);
    run_->waiting = plans_.size();
    run_->result.memory = HeldMemory(context().memory);
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].ok()) {
        RunOfBatch(engine(), context(), request_, i, *std::move(plans_[i]), run_);
      } else {
        run_->result.responses[i].error = plans_[i].status();
        run_->Finish();
      }
    }
  }

  const StatementOptions options_;
  const BatchStatementRequest request_;
  const std::shared_ptr<BatchRun> run_;
  std::vector<StatementPtr> parsed_;  // null: it could not be parsed
  std::vector<absl::StatusOr<Plan>> plans_;
  std::set<std::pair<std::string, std::string>> items_;  // table and row key
};

// Parses statement `i` of a transaction, whose parameters are checked.
absl::StatusOr<StatementPtr> ParseOfTransaction(const StatementRequest& request, size_t i) {
  absl::StatusOr<Statement> statement = partiql::ParseChecked(request);
  if (!statement.ok()) return partiql::MemberError(i, statement.status());
  if (!statement->returning.empty()) {
    return partiql::RefusedMember(i, "RETURNING clause is not supported in ExecuteTransaction.");
  }
  if (statement->is_read() && statement->index.has_value()) {
    return partiql::RefusedMember(i, "Reads on indices are not supported within transactions.");
  }
  const bool is_write = !statement->is_read() && statement->kind != Statement::Kind::kExists;
  if (is_write && statement->index.has_value()) return partiql::RefusedMember(i, partiql::kIndexInWrite);
  return std::make_shared<const Statement>(*std::move(statement));
}

// The plan of statement `i` of a transaction. `reason` gets a code if the statement cancels the transaction, because it
// finds no table or no key.
absl::StatusOr<Plan> PlanOfTransaction(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                                       const StatementPtr& statement, size_t i, CancellationReason* reason) {
  absl::StatusOr<Plan> plan = PlanFor(engine, options, request, statement, "ExecuteTransaction");
  const bool is_read = statement->is_read();
  if (plan.ok() && is_read && (plan->key.empty() || !plan->is_key_only)) {
    return partiql::RefusedMember(
        i, "Select statements within ExecuteTransaction must specify the primary key in the where clause.");
  }
  const std::optional<ApiError> error = GetApiError(plan.status());
  if (!error.has_value()) return plan;
  const bool is_missing = error->type == ApiErrorType::kResourceNotFound;
  if (!is_missing && error->type != ApiErrorType::kValidation) return plan;
  if (!is_missing && (is_read || statement->kind == Statement::Kind::kExists)) {
    return partiql::RefusedMember(i, error->message);
  }
  reason->code = is_missing ? "ResourceNotFound" : "ValidationError";
  const bool has_no_key = error->message == partiql::kNoKeyInWrite;
  reason->message = has_no_key ? std::string(kKeyMismatch) : error->message;
  return Plan();
}

void RunTransactionReads(Engine* engine, const RequestContext& context, const TransactStatementsRequest& request,
                         std::vector<Plan> plans, Callback<TransactStatementsResult> done) {
  TransactGetRequest gets;
  gets.return_consumed_capacity = request.return_consumed_capacity;
  gets.message_bytes = request.message_bytes;
  std::vector<std::shared_ptr<const partiql::Columns>> columns;
  columns.reserve(plans.size());
  for (Plan& plan : plans) {
    gets.gets.push_back({true, *std::move(plan.get)});
    columns.push_back(std::move(plan.columns));
  }
  engine->TransactGetItems(
      context, std::move(gets),
      [columns = std::move(columns), done = std::move(done)](absl::StatusOr<TransactGetResult> got) mutable {
        if (!got.ok()) return std::move(done)(partiql::StatementError(got.status(), PlanKind::kGet));
        std::move(done)(partiql::SelectedOf(*std::move(got), columns));
      });
}

void RunTransactionWrites(Engine* engine, const RequestContext& context, const TransactStatementsRequest& request,
                          std::vector<Plan> plans, Callback<TransactStatementsResult> done) {
  TransactWriteRequest writes;
  writes.client_request_token = request.client_request_token;
  writes.token_scope = request.token_scope;
  writes.return_consumed_capacity = request.return_consumed_capacity;
  writes.message_bytes = request.message_bytes;
  std::vector<bool> inserts;
  inserts.reserve(plans.size());
  for (Plan& plan : plans) {
    const PlanKind kind = plan.kind;
    inserts.push_back(kind == PlanKind::kPut);
    TransactAction& action = writes.actions.emplace_back();
    action.given = 1;
    action.kind = kind == PlanKind::kPut      ? WriteKind::kPut
                  : kind == PlanKind::kUpdate ? WriteKind::kUpdate
                  : kind == PlanKind::kDelete ? WriteKind::kDelete
                                              : WriteKind::kConditionCheck;
    action.write = *std::move(plan.write);
  }
  engine->TransactWriteItems(
      context, std::move(writes),
      [inserts = std::move(inserts), done = std::move(done)](absl::StatusOr<TransactWriteResult> written) mutable {
        if (!written.ok()) return std::move(done)(partiql::WithDuplicates(written.status(), inserts));
        TransactStatementsResult result;
        result.capacity = std::move(written->capacity);
        result.change_sequence = written->change_sequence;
        std::move(done)(std::move(result));
      });
}

// Checks the parameters of all statements of a transaction, then parses the statements, then plans them.
class TransactionSteps final : public partiql::StatementSteps {
 public:
  TransactionSteps(StatementOptions options, TransactStatementsRequest request, Callback<TransactStatementsResult> done)
      : options_(std::move(options)), request_(std::move(request)), done_(std::move(done)) {
    parsed_.resize(request_.statements->size());
    plans_.resize(parsed_.size());
    reasons_.resize(parsed_.size());
  }

 private:
  size_t count() const override { return 3 * parsed_.size(); }
  size_t BytesOf(size_t step) const override { return BytesOfStatement((*request_.statements)[step % parsed_.size()]); }

  absl::Status Run(size_t step) override {
    const size_t i = step % parsed_.size();
    const StatementRequest& request = (*request_.statements)[i];
    if (step < parsed_.size()) return partiql::CheckParameters(request);
    if (step < 2 * parsed_.size()) {
      ARM_ASSIGN_OR_RETURN(parsed_[i], ParseOfTransaction(request, i));
      return absl::OkStatus();
    }
    if (i == 0 && IsMixed(parsed_)) {
      return ValidationError(
          "ExecuteTransaction API does not support both read and write operations in the same request.");
    }
    ARM_ASSIGN_OR_RETURN(plans_[i], PlanOfTransaction(engine(), options_, request, parsed_[i], i, &reasons_[i]));
    return absl::OkStatus();
  }

  void Finish(const absl::Status& status) override {
    if (!status.ok()) return std::move(done_)(status);
    const bool is_cancelled =
        std::any_of(reasons_.begin(), reasons_.end(), [](const auto& each) { return !each.message.empty(); });
    if (is_cancelled) return std::move(done_)(TransactionCanceledError(reasons_));
    const bool reads = parsed_.front()->is_read();
    (reads ? RunTransactionReads : RunTransactionWrites)(engine(), context(), request_, std::move(plans_),
                                                         std::move(done_));
  }

  const StatementOptions options_;
  const TransactStatementsRequest request_;
  Callback<TransactStatementsResult> done_;
  std::vector<StatementPtr> parsed_;
  std::vector<Plan> plans_;
  std::vector<CancellationReason> reasons_;
};

}  // namespace

void ExecuteStatement(Engine* engine, RequestContext context, StatementOptions options, ExecuteStatementRequest request,
                      Callback<ExecuteStatementResult> done) {
  if (const absl::Status status = partiql::CheckExecuteStatement(request); !status.ok()) return std::move(done)(status);
  std::make_shared<ExecuteStatementRun>(std::move(options), std::move(request), std::move(done))
      ->Start(engine, std::move(context));
}

void BatchExecuteStatement(Engine* engine, RequestContext context, StatementOptions options,
                           BatchStatementRequest request, Callback<BatchStatementResult> done) {
  if (const absl::Status status = partiql::CheckBatch(request); !status.ok()) return std::move(done)(status);
  std::make_shared<BatchSteps>(std::move(options), std::move(request), std::move(done))
      ->Start(engine, std::move(context));
}

void ExecuteTransaction(Engine* engine, RequestContext context, StatementOptions options,
                        TransactStatementsRequest request, Callback<TransactStatementsResult> done) {
  if (const absl::Status status = partiql::CheckTransaction(request); !status.ok()) return std::move(done)(status);
  std::make_shared<TransactionSteps>(std::move(options), std::move(request), std::move(done))
      ->Start(engine, std::move(context));
}

std::string_view StatementErrorCode(const absl::Status& error) {
  const std::optional<ApiError> api_error = GetApiError(error);
  if (!api_error.has_value()) return "InternalServerError";
  switch (api_error->type) {
    case ApiErrorType::kValidation:
      return "ValidationError";
    case ApiErrorType::kConditionalCheckFailed:
      return "ConditionalCheckFailed";
    case ApiErrorType::kItemCollectionSizeLimitExceeded:
      return "ItemCollectionSizeLimitExceeded";
    case ApiErrorType::kRequestLimitExceeded:
      return "RequestLimitExceeded";
    case ApiErrorType::kProvisionedThroughputExceeded:
      return "ProvisionedThroughputExceeded";
    case ApiErrorType::kTransactionConflict:
      return "TransactionConflict";
    case ApiErrorType::kThrottling:
      return "ThrottlingError";
    case ApiErrorType::kResourceNotFound:
      return "ResourceNotFound";
    case ApiErrorType::kAccessDenied:
      return "AccessDenied";
    case ApiErrorType::kDuplicateItem:
      return "DuplicateItem";
    default:
      return "InternalServerError";
  }
}

}  // namespace armature::engine
