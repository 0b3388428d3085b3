#include "engine/partiql/statements.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/engine.h"
#include "engine/items/constraints.h"
#include "engine/items/message_memory.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/plan.h"
#include "engine/partiql/select_run.h"
#include "engine/partiql/statement_steps.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

using partiql::Plan;
using partiql::PlanKind;
using partiql::Statement;

constexpr size_t kNextTokenMaxChars = 32'768;
constexpr size_t kBatchStatementsMax = 25;
constexpr char kDuplicateItem[] = "Duplicate primary key exists in table";

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

void CheckStatementShape(const StatementRequest& request, std::string_view prefix, model::ConstraintList* list) {
  const std::string path = Cat(prefix, "statement");
  if (!request.statement.has_value()) {
    list->AddNull(path);
  } else {
    const std::string printed = model::PrintedValue(model::Shown(*request.statement));
    const size_t length = model::CharacterCount(*request.statement);
    list->CheckLengthMin(printed, length, path, 1);
    list->CheckLengthMax(printed, length, path, kStatementMaxChars);
  }
  if (request.parameters.has_value()) {
    list->CheckLengthMin("'[]'", request.parameters->size(), Cat(prefix, "parameters"), 1);
  }
  CheckOptionalEnum(request.return_values_on_condition_check_failure,
                    Cat(prefix, "returnValuesOnConditionCheckFailure"), kReturnValuesOnFailureValues, list);
}

absl::StatusOr<StatementPtr> Parse(const StatementRequest& request) {
  static const auto* const kNone = new std::vector<std::string>;
  ARM_ASSIGN_OR_RETURN(
      Statement statement,
      partiql::ParseStatement(*request.statement, request.parameters.has_value() ? *request.parameters : *kNone));
  return std::make_shared<const Statement>(std::move(statement));
}

// The facts of all requests of a plan.
absl::StatusOr<access::Facts> FactsOfPlan(const store::Database& database, const absl::StatusOr<Plan>& plan,
                                          std::string_view transaction) {
  ARM_RETURN_IF_ERROR(plan.status());
  access::Facts facts;
  if (plan->get.has_value()) {
    ARM_ASSIGN_OR_RETURN(facts, FactsOf(database, *plan->get));
  }
  const bool is_read = plan->kind == PlanKind::kQuery || plan->kind == PlanKind::kScan;
  for (size_t i = 0; is_read && i < plan->read_count(); ++i) {
    ARM_ASSIGN_OR_RETURN(const access::Facts one, FactsOf(database, plan->is_full_scan(), plan->RequestOf(i)));
    MergeFacts(one, &facts);
  }
  if (plan->write.has_value()) {
    const WriteKind kind = plan->kind == PlanKind::kPut      ? WriteKind::kPut
                           : plan->kind == PlanKind::kUpdate ? WriteKind::kUpdate
                                                             : WriteKind::kDelete;
    ARM_ASSIGN_OR_RETURN(facts, FactsOf(database, kind, *plan->write));
  } else {
    facts[access::ConditionKey::kFullTableScan] = {plan->is_full_scan() ? "true" : "false"};
  }
  if (!transaction.empty()) facts[access::ConditionKey::kEnclosingOperation] = {std::string(transaction)};
  return facts;
}

absl::StatusOr<Plan> Planned(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                             const StatementPtr& statement) {
  engine->CountPlan();
  absl::StatusOr<Plan> plan =
      partiql::MakePlan(*engine->database(), statement, {request.consistent_read, options.multi_attribute_indexes});
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
      if (!plan.has_value()) plan = Planned(engine, options, request, statement);
      return FactsOfPlan(database, *plan, transaction);
    };
    const std::string_view index = statement->index.has_value() ? std::string_view(*statement->index) : "";
    ARM_RETURN_IF_ERROR(options.gate({ActionOf(statement->kind), statement->table, index, facts}));
  }
  return plan.has_value() ? *std::move(plan) : Planned(engine, options, request, statement);
}

size_t BytesOfStatement(const StatementRequest& request) {
  size_t bytes = request.statement->size();
  if (request.parameters.has_value()) {
    for (const std::string& parameter : *request.parameters) bytes += parameter.size();
  }
  return bytes;
}

void RunWriteOf(Engine* engine, const RequestContext& context, Plan plan, Callback<WriteResult> done) {
  auto translated = [kind = plan.kind, done = std::move(done)](absl::StatusOr<WriteResult> result) mutable {
    if (!result.ok()) return std::move(done)(partiql::StatementError(result.status(), kind));
    std::move(done)(std::move(result));
  };
  switch (plan.kind) {
    case PlanKind::kPut:
      return engine->PutItem(context, *std::move(plan.write), std::move(translated));
    case PlanKind::kUpdate:
      return engine->UpdateItem(context, *std::move(plan.write), std::move(translated));
    default:
      return engine->DeleteItem(context, *std::move(plan.write), std::move(translated));
  }
}

absl::Status CheckExecuteStatement(const ExecuteStatementRequest& request) {
  model::ConstraintList list;
  CheckStatementShape(request.statement, "", &list);
  if (request.next_token.has_value()) {
    const std::string printed = model::PrintedValue(model::Shown(*request.next_token));
    list.CheckLengthMin(printed, request.next_token->size(), "nextToken", 1);
    list.CheckLengthMax(printed, request.next_token->size(), "nextToken", kNextTokenMaxChars);
  }
  CheckCapacityReport(request.return_consumed_capacity, &list);
  if (request.limit.has_value()) list.CheckMinimum(*request.limit, "limit", 1);
  return list.ToStatus();
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
    if (statement->kind == Statement::Kind::kExists) {
      return ValidationError("EXISTS() is only supported in ExecuteTransaction");
    }
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
    RunWriteOf(engine(), context(), std::move(plan_),
               [done = std::move(done_)](absl::StatusOr<WriteResult> written) mutable {
                 if (!written.ok()) return std::move(done)(written.status());
                 ExecuteStatementResult result;
                 if (written->attributes.has_value()) result.items.emplace_back(written->attributes->view());
                 result.capacity = std::move(written->capacity);
                 result.change_sequence = written->change_sequence;
                 result.memory = std::move(written->memory);
                 std::move(done)(std::move(result));
               });
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
  std::vector<uint64_t> sequences;
  std::vector<HeldMemory> memories;
  std::atomic<size_t> waiting = 0;
  Callback<BatchStatementResult> done;

  void Finish() {
    if (waiting.fetch_sub(1) != 1) return;
    std::map<std::string, size_t> place;
    for (const std::optional<ConsumedCapacity>& each : capacity) {
      if (!each.has_value()) continue;
      const auto [found, is_new] = place.try_emplace(each->table_name, result.capacity.size());
      std::optional<ConsumedCapacity> sum;
      if (!is_new) sum = result.capacity[found->second];
      partiql::AddCapacity(*each, &sum);
      if (is_new) {
        result.capacity.push_back(*std::move(sum));
      } else {
        result.capacity[found->second] = *std::move(sum);
      }
    }
    size_t memory = 0;
    for (const HeldMemory& each : memories) memory += each.counted();
    result.memory.Set(memory);
    memories.clear();
    for (const uint64_t sequence : sequences) result.change_sequence = std::max(result.change_sequence, sequence);
    std::move(done)(std::move(result));
  }
};

absl::Status CheckBatch(const BatchStatementRequest& request) {
  model::ConstraintList list;
  if (!request.statements.has_value()) {
    list.AddNull("statements");
  } else {
    list.CheckLengthMin("'[]'", request.statements->size(), "statements", 1);
    list.CheckLengthMax("'[...]'", request.statements->size(), "statements", kBatchStatementsMax);
    for (size_t i = 0; i < std::min(request.statements->size(), kBatchStatementsMax); ++i) {
      CheckStatementShape((*request.statements)[i], Cat("statements.", i + 1, ".member."), &list);
    }
  }
  CheckCapacityReport(request.return_consumed_capacity, &list);
  return list.ToStatus();
}

absl::StatusOr<Plan> PlanOfBatch(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                                 const StatementPtr& statement) {
  if (statement->kind == Statement::Kind::kExists) {
    return ValidationError("EXISTS() is only supported in ExecuteTransaction");
  }
  ARM_ASSIGN_OR_RETURN(Plan plan, PlanFor(engine, options, request, statement));
  if (statement->is_read() && plan.key.empty()) {
    return ValidationError(
        "Select statements within BatchExecuteStatement must specify the primary key in the where clause.");
  }
  return plan;
}

void RunOfBatch(Engine* engine, const RequestContext& context, const BatchStatementRequest& request, size_t i,
                Plan plan, const std::shared_ptr<BatchRun>& run) {
  if (plan.write.has_value()) {
    plan.write->return_consumed_capacity = request.return_consumed_capacity;
    return RunWriteOf(engine, context, std::move(plan), [run, i](absl::StatusOr<WriteResult> written) {
      run->result.responses[i].error = written.status();
      if (written.ok()) {
        if (written->attributes.has_value()) run->result.responses[i].item = std::string(written->attributes->view());
        run->memories[i] = std::move(written->memory);
        run->capacity[i] = std::move(written->capacity);
        run->sequences[i] = written->change_sequence;
      }
      run->Finish();
    });
  }
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
        run_->result.responses[i].table_name = parsed_[i]->table;
      } else {
        plans_[i] = parsed.status();
      }
      return absl::OkStatus();
    }
    if (i == 0 && IsMixed(parsed_)) {
      return ValidationError("Read and write requests together in the same batch is not supported.");
    }
    if (parsed_[i] == nullptr) return absl::OkStatus();
    plans_[i] = PlanOfBatch(engine(), options_, request, parsed_[i]);
    const bool is_named = plans_[i].ok() && !plans_[i]->row_key.empty();
    if (is_named && !items_.emplace(parsed_[i]->table, plans_[i]->row_key).second) {
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

absl::Status CheckTransaction(const TransactStatementsRequest& request) {
  model::ConstraintList list;
  if (!request.statements.has_value()) {
    list.AddNull("transactStatements");
  } else {
    list.CheckLengthMin("'[]'", request.statements->size(), "transactStatements", 1);
    list.CheckLengthMax("'[...]'", request.statements->size(), "transactStatements", model::kTransactActionsMax);
    for (size_t i = 0; i < std::min(request.statements->size(), model::kTransactActionsMax); ++i) {
      CheckStatementShape((*request.statements)[i], Cat("transactStatements.", i + 1, ".member."), &list);
    }
  }
  CheckCapacityReport(request.return_consumed_capacity, &list);
  return list.ToStatus();
}

// The plan of statement `i` of a transaction.
absl::StatusOr<Plan> PlanOfTransaction(Engine* engine, const StatementOptions& options, const StatementRequest& request,
                                       const StatementPtr& statement, size_t i) {
  const auto refused = [i](std::string_view why) {
    return ValidationError(Cat("Validation failed in TransactStatements[", i, "]: ", why));
  };
  if (!statement->returning.empty()) return refused("RETURNING clause is not supported in ExecuteTransaction.");
  if (statement->is_read() && statement->index.has_value()) {
    return refused("Reads on indices are not supported within transactions.");
  }
  absl::StatusOr<Plan> plan = PlanFor(engine, options, request, statement, "ExecuteTransaction");
  if (!plan.ok() && statement->kind == Statement::Kind::kExists) {
    const std::optional<ApiError> error = GetApiError(plan.status());
    if (error.has_value() && error->message.starts_with("EXISTS()")) return refused(error->message);
  }
  if (plan.ok() && statement->is_read() && (plan->key.empty() || !plan->is_key_only)) {
    return refused("Select statements within ExecuteTransaction must specify the primary key in the where clause.");
  }
  return plan;
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
  const auto answer = [columns = std::move(columns)](const TransactGetResult& got) {
    TransactStatementsResult result;
    result.capacity = got.capacity;
    for (size_t i = 0; i < got.items.size(); ++i) {
      std::optional<std::string>& item = result.items.emplace_back();
      if (!got.items[i].has_value()) continue;
      const std::string_view bytes = got.items[i]->view();
      item = columns[i] == nullptr ? std::string(bytes) : columns[i]->Of(bytes);
    }
    return result;
  };
  engine->TransactGetItems(context, std::move(gets),
                           [answer, done = std::move(done)](absl::StatusOr<TransactGetResult> got) mutable {
                             if (!got.ok())
                               return std::move(done)(partiql::StatementError(got.status(), PlanKind::kGet));
                             size_t memory = got->item_bytes;
                             for (const std::optional<ItemBytes>& item : got->items) {
                               if (item.has_value()) memory += MessageMemory(item->view());
                             }
                             if (!got->memory.Cover(memory)) return std::move(done)(NoMemoryForAnswerError());
                             TransactStatementsResult result = answer(*got);
                             result.memory = std::move(got->memory);
                             std::move(done)(std::move(result));
                           });
}

// An INSERT fails because of a duplicate, not because of the condition that finds it.
absl::Status WithDuplicates(const absl::Status& error, const std::vector<bool>& inserts) {
  std::vector<CancellationReason> reasons = GetCancellationReasons(error);
  if (reasons.size() != inserts.size()) return partiql::StatementError(error, PlanKind::kCheck);
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (!inserts[i] || reasons[i].code != "ConditionalCheckFailed") continue;
    reasons[i].code = "DuplicateItem";
    reasons[i].message = kDuplicateItem;
  }
  return TransactionCanceledError(reasons);
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
        if (!written.ok()) return std::move(done)(WithDuplicates(written.status(), inserts));
        TransactStatementsResult result;
        result.capacity = std::move(written->capacity);
        result.change_sequence = written->change_sequence;
        std::move(done)(std::move(result));
      });
}

// Parses the statements of a transaction, then plans them.
class TransactionSteps final : public partiql::StatementSteps {
 public:
  TransactionSteps(StatementOptions options, TransactStatementsRequest request, Callback<TransactStatementsResult> done)
      : options_(std::move(options)), request_(std::move(request)), done_(std::move(done)) {
    parsed_.resize(request_.statements->size());
    plans_.resize(parsed_.size());
  }

 private:
  size_t count() const override { return 2 * parsed_.size(); }
  size_t BytesOf(size_t step) const override { return BytesOfStatement((*request_.statements)[step % parsed_.size()]); }

  absl::Status Run(size_t step) override {
    const size_t i = step % parsed_.size();
    const StatementRequest& request = (*request_.statements)[i];
    if (step < parsed_.size()) {
      ARM_ASSIGN_OR_RETURN(parsed_[i], Parse(request));
      return absl::OkStatus();
    }
    if (i == 0 && IsMixed(parsed_)) {
      return ValidationError(
          "ExecuteTransaction API does not support both read and write operations in the same request.");
    }
    ARM_ASSIGN_OR_RETURN(plans_[i], PlanOfTransaction(engine(), options_, request, parsed_[i], i));
    return absl::OkStatus();
  }

  void Finish(const absl::Status& status) override {
    if (!status.ok()) return std::move(done_)(status);
    const bool reads = parsed_.front()->is_read();
    (reads ? RunTransactionReads : RunTransactionWrites)(engine(), context(), request_, std::move(plans_),
                                                         std::move(done_));
  }

  const StatementOptions options_;
  const TransactStatementsRequest request_;
  Callback<TransactStatementsResult> done_;
  std::vector<StatementPtr> parsed_;
  std::vector<Plan> plans_;
};

}  // namespace

void ExecuteStatement(Engine* engine, RequestContext context, StatementOptions options, ExecuteStatementRequest request,
                      Callback<ExecuteStatementResult> done) {
  if (const absl::Status status = CheckExecuteStatement(request); !status.ok()) return std::move(done)(status);
  std::make_shared<ExecuteStatementRun>(std::move(options), std::move(request), std::move(done))
      ->Start(engine, std::move(context));
}

void BatchExecuteStatement(Engine* engine, RequestContext context, StatementOptions options,
                           BatchStatementRequest request, Callback<BatchStatementResult> done) {
  if (const absl::Status status = CheckBatch(request); !status.ok()) return std::move(done)(status);
  std::make_shared<BatchSteps>(std::move(options), std::move(request), std::move(done))
      ->Start(engine, std::move(context));
}

void ExecuteTransaction(Engine* engine, RequestContext context, StatementOptions options,
                        TransactStatementsRequest request, Callback<TransactStatementsResult> done) {
  if (const absl::Status status = CheckTransaction(request); !status.ok()) return std::move(done)(status);
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
