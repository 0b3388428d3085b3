#include "engine/partiql/select_run.h"

#include <algorithm>
#include <utility>

#include <xxhash.h>

#include "absl/strings/escaping.h"
#include "engine/engine.h"
#include "engine/items/message_memory.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

constexpr char kWrongToken[] = "NextToken does not match request";
constexpr size_t kHashBytes = sizeof(XXH128_canonical_t);

// Hashes the statement, its parameters, and the `place` that a token names.
std::string HashOf(const StatementRequest& request, std::string_view place) {
  std::string bytes;
  model::AppendBytesField(1, *request.statement, &bytes);
  if (request.parameters.has_value()) {
    for (const std::string& parameter : *request.parameters) {
      // All spellings of a value are one.
      model::AppendBytesField(2, codec::CanonicalizeValue(parameter).value_or(parameter), &bytes);
    }
  }
  model::AppendBytesField(3, place, &bytes);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  const auto* const begin = reinterpret_cast<const char*>(canonical.digest);
  return {begin, kHashBytes};
}

// Thread-safety: one call after the other. Lives until its last callback.
class SelectRun final : public PageWriter, public std::enable_shared_from_this<SelectRun> {
 public:
  SelectRun(Engine* engine, RequestContext context, const ExecuteStatementRequest& request, Plan plan,
            Callback<ExecuteStatementResult> done)
      : engine_(engine),
        context_(std::move(context)),
        request_(request),
        plan_(std::move(plan)),
        done_(std::move(done)) {
    result_.memory = HeldMemory(context_.memory);
  }

  void Add(std::string_view item_bytes) override {
    if (!refused_.ok()) return;
    if (plan_.columns == nullptr) {
      if (Take(item_bytes.size(), MessageMemory(item_bytes))) result_.items.emplace_back(item_bytes);
      return;
    }
    const Columns::Selection selection = plan_.columns->Of(item_bytes);
    // Selected values may be a small part of the item, or many times as large.
    const size_t bytes = std::max(item_bytes.size(), selection.bytes());
    if (Take(bytes, selection.Memory())) result_.items.push_back(selection.Item());
  }
  void Clear() override {
    result_.items.resize(items_before_);
    taken_ = taken_before_;
  }

  void Get() {
    GetItemRequest get = *std::move(plan_.get);
    get.return_consumed_capacity = request_.return_consumed_capacity;
    engine_->GetItem(context_, std::move(get), [self = shared_from_this()](absl::StatusOr<GetItemResult> got) {
      if (!got.ok()) return std::move(self->done_)(StatementError(got.status(), PlanKind::kGet));
      if (got->item.has_value()) self->Add(got->item->view());
      self->result_.capacity = std::move(got->capacity);
      self->End();
    });
  }

  void ReadFrom(PageStart start) {
    read_ = start.read;
    items_before_ = result_.items.size();
    taken_before_ = taken_;
    ReadRequest read = plan_.RequestOf(read_);
    read.exclusive_start_key_wire = std::move(start.key);
    read.return_consumed_capacity = request_.return_consumed_capacity;
    read.at_least_sequence = request_.at_least_sequence;
    read.earlier = work_;
    if (request_.limit.has_value()) read.limit = *request_.limit - scanned_;
    auto done = [self = shared_from_this()](absl::StatusOr<ReadResult> page) { self->Finish(std::move(page)); };
    if (plan_.kind == PlanKind::kQuery) {
      engine_->Query(context_, std::move(read), this, std::move(done));
    } else {
      engine_->Scan(context_, std::move(read), this, std::move(done));
    }
  }

 private:
  // Size and memory of items.
  struct Taken {
    size_t bytes = 0;
    size_t memory = 0;
  };

  // Takes the memory of an item. False if the page cannot have it.
  bool Take(size_t bytes, size_t memory) {
    taken_.bytes += bytes;
    taken_.memory += memory;
    if (refused_.ok() && taken_.bytes > kStatementAnswerMaxBytes) refused_ = TooLargeAnswerError();
    if (refused_.ok() && !result_.memory.TrySet(taken_.memory)) refused_ = NoMemoryForAnswerError();
    return refused_.ok();
  }

  void End() {
    if (!refused_.ok()) return std::move(done_)(refused_);
    std::move(done_)(std::move(result_));
  }

  void Finish(absl::StatusOr<ReadResult> page) {
    if (!page.ok()) return std::move(done_)(StatementError(page.status(), plan_.kind));
    if (!refused_.ok()) return End();
    scanned_ += page->scanned_count;
    work_ += page->work;
    if (page->capacity.has_value()) AddCapacity(*page->capacity, &result_.capacity);
    const bool is_full = page->is_full || taken_.bytes >= model::kPageMaxBytes;
    const bool has_more = page->last_evaluated_key.has_value();
    if (!has_more && read_ + 1 == plan_.read_count()) return End();
    if (!has_more && !is_full) return ReadFrom({read_ + 1, std::nullopt});
    result_.next_token = EncodeToken(
        request_.statement, has_more ? PageStart{read_, page->last_evaluated_key} : PageStart{read_ + 1, std::nullopt});
    result_.last_evaluated_key = std::move(page->last_evaluated_key);
    End();
  }

  Engine* const engine_;
  const RequestContext context_;
  const ExecuteStatementRequest request_;
  Plan plan_;
  Callback<ExecuteStatementResult> done_;
  ExecuteStatementResult result_;
  size_t read_ = 0;
  size_t items_before_ = 0;  // items of earlier queries
  Taken taken_;
  Taken taken_before_;    // by the items of earlier queries
  absl::Status refused_;  // why there is no page
  int64_t scanned_ = 0;
  PageWork work_;  // of all reads
};

}  // namespace

std::string EncodeToken(const StatementRequest& request, const PageStart& start) {
  std::string place;
  model::AppendVarint(start.read, &place);
  if (start.key.has_value()) place += *start.key;
  return absl::Base64Escape(HashOf(request, place) + place);
}

absl::StatusOr<PageStart> DecodeToken(const StatementRequest& request, std::string_view token) {
  std::string bytes;
  if (!absl::Base64Unescape(Av(token), &bytes)) return ValidationError(kWrongToken);
  std::string_view rest = bytes;
  if (rest.size() < kHashBytes) return ValidationError(kWrongToken);
  const std::string_view hash = rest.substr(0, kHashBytes);
  rest.remove_prefix(kHashBytes);
  if (hash != HashOf(request, rest)) return ValidationError(kWrongToken);
  PageStart start;
  uint64_t read = 0;
  if (!model::TakeVarint(&rest, &read)) return ValidationError(kWrongToken);
  start.read = read;
  if (!rest.empty()) start.key = std::string(rest);
  return start;
}

absl::Status TooLargeAnswerError() {
  return ValidationError(Cat("The values that are selected, with their numbers written out, cannot exceed ",
                             kStatementAnswerMaxBytes, " bytes"));
}

void RunSelect(Engine* engine, const RequestContext& context, const ExecuteStatementRequest& request, Plan plan,
               const PageStart& start, Callback<ExecuteStatementResult> done) {
  if (plan.kind != PlanKind::kGet && start.read >= plan.read_count()) {
    return std::move(done)(ValidationError(kWrongToken));
  }
  const bool is_get = plan.kind == PlanKind::kGet;
  const auto run = std::make_shared<SelectRun>(engine, context, request, std::move(plan), std::move(done));
  is_get ? run->Get() : run->ReadFrom(start);
}

void AddCapacity(const ConsumedCapacity& more, std::optional<ConsumedCapacity>* sum) {
  if (!sum->has_value()) {
    *sum = more;
    return;
  }
  ConsumedCapacity& to = **sum;
  to.total += more.total;
  if (more.table.has_value()) to.table = to.table.value_or(0) + *more.table;
  for (const auto& [name, units] : more.local_indexes) to.local_indexes[name] += units;
  for (const auto& [name, units] : more.global_indexes) to.global_indexes[name] += units;
}

absl::Status StatementError(const absl::Status& error, PlanKind kind) {
  const std::optional<ApiError> api_error = GetApiError(error);
  if (!api_error.has_value()) return error;
  if (kind == PlanKind::kPut && api_error->type == ApiErrorType::kConditionalCheckFailed) {
    return DuplicateItemError(kDuplicateItemText);
  }
  if (api_error->type != ApiErrorType::kValidation) return error;
  // A statement has no expressions that the text could name.
  for (const std::string_view envelope : {kEnvelope, std::string_view()}) {
    for (const expr::ExpressionKind each :
         {expr::ExpressionKind::kUpdate, expr::ExpressionKind::kCondition, expr::ExpressionKind::kKeyCondition,
          expr::ExpressionKind::kFilter, expr::ExpressionKind::kProjection}) {
      const std::string prefix = Cat(envelope, "Invalid ", expr::KindName(each), ": ");
      if (api_error->message.starts_with(prefix)) return ValidationError(api_error->message.substr(prefix.size()));
    }
  }
  return error;
}

}  // namespace armature::engine::partiql
