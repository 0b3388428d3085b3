#include "engine/partiql/statements.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/engine.h"
#include "engine/items/constraints.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/plan.h"
#include "engine/partiql/select_run.h"
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

constexpr size_t kStatementMaxChars = 8192;
constexpr size_t kNextTokenMaxChars = 32'768;
constexpr size_t kBatchStatementsMax = 25;
constexpr char kDuplicateItem[] = "Duplicate primary key exists in table";

// A statement that is permitted, and its plan.
struct Planned {
  Statement statement;
  Plan plan;
};

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

absl::StatusOr<Statement> Parse(const StatementRequest& request) {
  static const auto* const kNone = new std::vector<std::string>;
  return partiql::ParseStatement(*request.statement, request.parameters.has_value() ? *request.parameters : *kNone);
}

// The facts of all requests of a plan.
absl::StatusOr<access::Facts> FactsOfPlan(const store::Database& database, const absl::StatusOr<Plan>& plan,
                                          std::string_view transaction) {
  ARM_RETURN_IF_ERROR(plan.status());
  access::Facts facts;
  if (plan->get.has_value()) {
    ARM_ASSIGN_OR_RETURN(facts, FactsOf(database, *plan->get));
  }
  for (const ReadRequest& read : plan->reads) {
    ARM_ASSIGN_OR_RETURN(const access::Facts one, FactsOf(database, plan->is_full_scan(), read));
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

// Plans and authorises. A denied statement is told nothing of the table. `transaction`: the enclosing operation, if it
// is one.
absl::StatusOr<Plan> PlanFor(const Engine& engine, const StatementOptions& options, const StatementRequest& request,
                             const Statement& statement, std::string_view transaction = {}) {
  absl::StatusOr<Plan> plan =
      partiql::MakePlan(*engine.database(), statement, {request.consistent_read, options.multi_attribute_indexes});
  if (plan.ok() && plan->write.has_value()) {
    plan->write->from_statement = true;
    plan->write->return_values_on_condition_check_failure = request.return_values_on_condition_check_failure;
  }
  if (options.gate) {
    const auto facts = [&](const store::Database& database) { return FactsOfPlan(database, plan, transaction); };
    const std::string_view index = statement.index.has_value() ? std::string_view(*statement.index) : "";
    ARM_RETURN_IF_ERROR(options.gate({ActionOf(statement.kind), statement.table, index, facts}));
  }
  return plan;
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

struct StartedStatement {
  Planned planned;
  partiql::PageStart start;
};

absl::StatusOr<StartedStatement> PrepareStatement(const Engine& engine, const StatementOptions& options,
                                                  const ExecuteStatementRequest& request) {
  ARM_RETURN_IF_ERROR(CheckExecuteStatement(request));
  StartedStatement started;
  ARM_ASSIGN_OR_RETURN(started.planned.statement, Parse(request.statement));
  const Statement& statement = started.planned.statement;
  if (statement.kind == Statement::Kind::kExists) {
    return ValidationError("EXISTS() is only supported in ExecuteTransaction");
  }
  if (request.next_token.has_value()) {
    ARM_ASSIGN_OR_RETURN(started.start, partiql::DecodeToken(request.statement, *request.next_token));
  }
  ARM_ASSIGN_OR_RETURN(started.planned.plan, PlanFor(engine, options, request.statement, statement));
  return started;
}

// The statements of a batch or transaction that are reads and writes at once.
bool IsMixed(const std::vector<const Statement*>& statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [&statements](const Statement* each) { return each->is_read() != statements.front()->is_read(); });
}

// A batch in progress. Its statements run side by side.
struct BatchRun {
  BatchStatementResult result;
  std::vector<std::optional<ConsumedCapacity>> capacity;
  std::vector<uint64_t> sequences;
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

absl::StatusOr<Plan> PlanOfBatch(const Engine& engine, const StatementOptions& options, const StatementRequest& request,
                                 const Statement& statement) {
  if (statement.kind == Statement::Kind::kExists) {
    return ValidationError("EXISTS() is only supported in ExecuteTransaction");
  }
  ARM_ASSIGN_OR_RETURN(Plan plan, PlanFor(engine, options, request, statement));
  if (statement.is_read() && plan.key.empty()) {
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
      run->capacity[i] = std::move(page->capacity);
    }
    run->Finish();
  });
}

// The statements of a transaction, and their plans.
absl::StatusOr<std::vector<Planned>> PrepareTransaction(const Engine& engine, const StatementOptions& options,
                                                        const TransactStatementsRequest& request) {
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
  ARM_RETURN_IF_ERROR(list.ToStatus());
  std::vector<Planned> all(request.statements->size());
  std::vector<const Statement*> statements;
  statements.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(all[i].statement, Parse((*request.statements)[i]));
    statements.push_back(&all[i].statement);
  }
  if (IsMixed(statements)) {
    return ValidationError(
        "ExecuteTransaction API does not support both read and write operations in the same request.");
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Statement& statement = all[i].statement;
    const auto refused = [i](std::string_view why) {
      return ValidationError(Cat("Validation failed in TransactStatements[", i, "]: ", why));
    };
    if (!statement.returning.empty()) return refused("RETURNING clause is not supported in ExecuteTransaction.");
    if (statement.is_read() && statement.index.has_value()) {
      return refused("Reads on indices are not supported within transactions.");
    }
    absl::StatusOr<Plan> plan = PlanFor(engine, options, (*request.statements)[i], statement, "ExecuteTransaction");
    if (!plan.ok() && statement.kind == Statement::Kind::kExists) {
      const std::optional<ApiError> error = GetApiError(plan.status());
      if (error.has_value() && error->message.starts_with("EXISTS()")) return refused(error->message);
    }
    ARM_RETURN_IF_ERROR(plan.status());
    all[i].plan = *std::move(plan);
    if (statement.is_read() && (all[i].plan.key.empty() || !all[i].plan.is_key_only)) {
      return refused("Select statements within ExecuteTransaction must specify the primary key in the where clause.");
    }
  }
  return all;
}

void RunTransactionReads(Engine* engine, const RequestContext& context, const TransactStatementsRequest& request,
                         std::vector<Planned> all, Callback<TransactStatementsResult> done) {
  TransactGetRequest gets;
  gets.return_consumed_capacity = request.return_consumed_capacity;
  gets.message_bytes = request.message_bytes;
  std::vector<std::vector<expr::DocumentPath>> columns;
  columns.reserve(all.size());
  for (Planned& each : all) {
    gets.gets.push_back({true, *std::move(each.plan.get)});
    columns.push_back(std::move(each.plan.columns));
  }
  const auto answer = [columns = std::move(columns)](const TransactGetResult& got) {
    TransactStatementsResult result;
    result.capacity = got.capacity;
    for (size_t i = 0; i < got.items.size(); ++i) {
      std::optional<std::string>& item = result.items.emplace_back();
      if (!got.items[i].has_value()) continue;
      const std::string_view bytes = got.items[i]->view();
      item = columns[i].empty() ? std::string(bytes) : partiql::ColumnsOf(columns[i], bytes);
    }
    return result;
  };
  engine->TransactGetItems(context, std::move(gets),
                           [answer, done = std::move(done)](const absl::StatusOr<TransactGetResult>& got) mutable {
                             if (!got.ok())
                               return std::move(done)(partiql::StatementError(got.status(), PlanKind::kGet));
                             std::move(done)(answer(*got));
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
                          std::vector<Planned> all, Callback<TransactStatementsResult> done) {
  TransactWriteRequest writes;
  writes.client_request_token = request.client_request_token;
  writes.token_scope = request.token_scope;
  writes.return_consumed_capacity = request.return_consumed_capacity;
  writes.message_bytes = request.message_bytes;
  std::vector<bool> inserts;
  inserts.reserve(all.size());
  for (Planned& each : all) {
    const PlanKind kind = each.plan.kind;
    inserts.push_back(kind == PlanKind::kPut);
    TransactAction& action = writes.actions.emplace_back();
    action.given = 1;
    action.kind = kind == PlanKind::kPut      ? WriteKind::kPut
                  : kind == PlanKind::kUpdate ? WriteKind::kUpdate
                  : kind == PlanKind::kDelete ? WriteKind::kDelete
                                              : WriteKind::kConditionCheck;
    action.write = *std::move(each.plan.write);
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

}  // namespace

void ExecuteStatement(Engine* engine, const RequestContext& context, const StatementOptions& options,
                      const ExecuteStatementRequest& request, Callback<ExecuteStatementResult> done) {
  absl::StatusOr<StartedStatement> started = PrepareStatement(*engine, options, request);
  if (!started.ok()) return std::move(done)(started.status());
  Plan& plan = started->planned.plan;
  if (request.explain_only) {
    ExecuteStatementResult result;
    result.plan = partiql::Explained(started->planned.statement, plan);
    return std::move(done)(std::move(result));
  }
  if (!plan.write.has_value()) {
    return partiql::RunSelect(engine, context, request, std::move(plan), started->start, std::move(done));
  }
  plan.write->return_consumed_capacity = request.return_consumed_capacity;
  RunWriteOf(engine, context, std::move(plan), [done = std::move(done)](absl::StatusOr<WriteResult> written) mutable {
    if (!written.ok()) return std::move(done)(written.status());
    ExecuteStatementResult result;
    if (written->attributes.has_value()) result.items.emplace_back(written->attributes->view());
    result.capacity = std::move(written->capacity);
    result.change_sequence = written->change_sequence;
    std::move(done)(std::move(result));
  });
}

void BatchExecuteStatement(Engine* engine, const RequestContext& context, const StatementOptions& options,
                           const BatchStatementRequest& request, Callback<BatchStatementResult> done) {
  if (const absl::Status status = CheckBatch(request); !status.ok()) return std::move(done)(status);
  const std::vector<StatementRequest>& statements = *request.statements;
  const auto run = std::make_shared<BatchRun>();
  run->done = std::move(done);
  run->result.responses.resize(statements.size());
  run->capacity.resize(statements.size());
  run->sequences.resize(statements.size());
  std::vector<absl::StatusOr<Statement>> parsed;
  parsed.reserve(statements.size());
  std::vector<const Statement*> readable;
  for (const StatementRequest& each : statements) parsed.push_back(Parse(each));
  for (const absl::StatusOr<Statement>& each : parsed) {
    if (each.ok()) readable.push_back(&*each);
  }
  if (IsMixed(readable)) {
    return std::move(run->done)(
        ValidationError("Read and write requests together in the same batch is not supported."));
  }
  std::vector<absl::StatusOr<Plan>> plans;
  plans.reserve(statements.size());
  std::set<std::pair<std::string, std::string>> items;
  for (size_t i = 0; i < statements.size(); ++i) {
    if (parsed[i].ok()) run->result.responses[i].table_name = parsed[i]->table;
    plans.push_back(parsed[i].ok() ? PlanOfBatch(*engine, options, statements[i], *parsed[i])
                                   : absl::StatusOr<Plan>(parsed[i].status()));
    const bool is_named = plans[i].ok() && !plans[i]->row_key.empty();
    if (is_named && !items.emplace(parsed[i]->table, plans[i]->row_key).second) {
      return std::move(run->done)(ValidationError(kDuplicateKeysText));
    }
  }
  run->waiting = statements.size();
  for (size_t i = 0; i < statements.size(); ++i) {
    if (plans[i].ok()) {
      RunOfBatch(engine, context, request, i, *std::move(plans[i]), run);
    } else {
      run->result.responses[i].error = plans[i].status();
      run->Finish();
    }
  }
}

void ExecuteTransaction(Engine* engine, const RequestContext& context, const StatementOptions& options,
                        const TransactStatementsRequest& request, Callback<TransactStatementsResult> done) {
  absl::StatusOr<std::vector<Planned>> all = PrepareTransaction(*engine, options, request);
  if (!all.ok()) return std::move(done)(all.status());
  const bool reads = all->front().statement.is_read();
  (reads ? RunTransactionReads : RunTransactionWrites)(engine, context, request, *std::move(all), std::move(done));
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
