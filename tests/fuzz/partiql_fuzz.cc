// PartiQL statements, from text to answer, on tables with keys of all types and indexes of eight attributes. Input: the
// statement. Its parameters are made of its bytes, so that each input is one statement.

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/statements.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "tests/fuzz/fuzz_engine.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/fuzz/statement_words.h"

namespace armature::fuzz {
namespace {

using engine::Engine;

void CheckRefusal(const absl::Status& status) {
  if (status.ok()) return;
  const auto error = GetApiError(status);
  Check(error.has_value(), "what is refused is an API error");
  Check(error->type != ApiErrorType::kServiceUnavailable && !error->message.empty(), "an error has a reason");
  Check(!error->message.ends_with(": "), "a reason is not empty");
}

// Values of all types, those of keys more often.
std::vector<std::string> MakeParameters(std::string_view text) {
  namespace codec = ::armature::codec;
  static const auto* const kValues = new std::vector<std::string>{
      codec::S("1"),     codec::N("1"),        codec::B("1"),    codec::S("0"),    codec::N("0"),
      codec::B("0"),     codec::N("1.0"),      codec::N("1e0"),  codec::S(""),     codec::B(""),
      codec::N("1e125"), codec::B("\xff\xff"), codec::Bool(1),   codec::Null(1),   codec::L({codec::N("1")}),
      codec::M({}),      codec::Ss({"a"}),     codec::Ns({"1"}), codec::Bs({"1"}), std::string()};
  const auto count = static_cast<size_t>(std::count(text.begin(), text.end(), '?'));
  std::vector<std::string> parameters;
  for (size_t i = 0; i < std::min<size_t>(count, 200); ++i) {
    parameters.push_back((*kValues)[(std::hash<std::string_view>()(text.substr(i)) + i) % kValues->size()]);
  }
  return parameters;
}

template <class Result, class Request>
void Run(Engine* engine, bool with_multi_attribute_indexes, Request request,
         void (*operation)(Engine*, engine::RequestContext, engine::StatementOptions, Request,
                           engine::Callback<Result>)) {
  engine::StatementOptions options;
  options.multi_attribute_indexes = with_multi_attribute_indexes;
  absl::Notification answered;
  operation(engine, {}, std::move(options), std::move(request), [&](const absl::StatusOr<Result>& result) {
    CheckRefusal(result.status());
    answered.Notify();  // aborts if called twice
  });
  answered.WaitForNotification();
}

void RunStatement(Engine* engine, std::string_view text) {
  engine::StatementRequest statement;
  statement.statement = std::string(text);
  std::vector<std::string> parameters = MakeParameters(text);
  if (!parameters.empty()) statement.parameters = std::move(parameters);

  engine::ExecuteStatementRequest one;
  one.statement = statement;
  one.limit = 10;
  one.explain_only = true;
  Run(engine, true, one, engine::ExecuteStatement);
  one.explain_only = false;
  Run(engine, true, one, engine::ExecuteStatement);

  engine::BatchStatementRequest batch;
  batch.statements = {statement};
  Run(engine, false, batch, engine::BatchExecuteStatement);

  engine::TransactStatementsRequest transaction;
  transaction.statements = {statement};
  Run(engine, false, transaction, engine::ExecuteTransaction);
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto* const engine = [] {
    google::LogToStderr();
    return new armature::fuzz::FuzzEngine(armature::fuzz::FuzzTables::kKeysOfAllTypes);
  }();
  engine->Renew();
  armature::fuzz::RunStatement(engine->get(), armature::fuzz::Text(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) __attribute__((weak));

// libFuzzer's own changes of bytes, and changes of words.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 3 == 0 && LLVMFuzzerMutate != nullptr) return LLVMFuzzerMutate(data, size, max_size);
  const std::string changed = armature::fuzz::StatementWords(seed).Change(armature::fuzz::Text(data, size));
  const size_t kept = std::min(changed.size(), max_size);
  std::copy_n(changed.begin(), kept, data);
  return kept;
}
