#include "tools/armature/sql/bulk_write.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "armature/api/v1/statements.pb.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/sql/run_statement.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using api::v1::Item;

constexpr size_t kBatchMax = 25;  // statements of BatchExecuteStatement
constexpr size_t kDrySampleItems = 5;
constexpr int64_t kFailedMax = 1000;
constexpr int64_t kRateMax = 1'000'000;
constexpr absl::Duration kPauseSlice = absl::Milliseconds(50);
constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kPauseMax = absl::Seconds(2);
// The daemon's text for an UPDATE or DELETE without its key, as the original API has it.
constexpr std::string_view kNoWholeKey = "does not contain a mandatory equality on all key attributes";

class BulkParser {
 public:
  explicit BulkParser(const std::vector<SqlToken>& tokens) : tokens_(tokens) {}

  absl::StatusOr<std::optional<BulkStatement>> Run() {
    made_.is_update = tokens_.TryWord("UPDATE");
    if (!made_.is_update && !(tokens_.TryWord("DELETE") && tokens_.TryWord("FROM"))) return std::nullopt;
    const SqlToken table = tokens_.Take();
    if (table.kind != SqlTokenKind::kWord && table.kind != SqlTokenKind::kName) return std::nullopt;
    made_.table = table.text;
    made_.target = table.place;
    if (made_.is_update) {
      if (!tokens_.IsWord("SET") && !tokens_.IsWord("REMOVE")) return std::nullopt;
      made_.actions = ReadPart(&made_.action_parameters);
    }
    if (tokens_.TryWord("WHERE")) {
      made_.where = ReadPart(&made_.where_parameters);
      if (made_.where->begin == made_.where->end) return std::nullopt;
    }
    if (tokens_.IsWord("RETURNING")) {
      size_t parameters = 0;
      made_.returning = ReadPart(&parameters);
    }
    ARM_RETURN_IF_ERROR(ReadOptions());
    if (made_.options.has_value()) {
      ARM_RETURN_IF_ERROR(tokens_.TakeEnd());
    } else if (!tokens_.TakeEnd().ok()) {
      return std::nullopt;
    }
    return std::move(made_);
  }

 private:
  bool BeginsOptions() const {
    return (tokens_.IsWord("DRY") && tokens_.IsWord("RUN", 1)) || tokens_.IsWord("WITH") ||
           tokens_.IsWord("RETURNING") || tokens_.IsWord("WHERE") || tokens_.IsSymbol(";");
  }

  // The tokens before the next clause that is in no parentheses.
  TextPlace ReadPart(size_t* parameters) {
    TextPlace part{tokens_.Peek().place.begin, tokens_.Peek().place.begin};
    int64_t depth = 0;
    while (!tokens_.AtEnd()) {
      for (const std::string_view opening : {"(", "[", "{", "<<"}) depth += tokens_.IsSymbol(opening) ? 1 : 0;
      for (const std::string_view closing : {")", "]", "}", ">>"}) depth -= tokens_.IsSymbol(closing) ? 1 : 0;
      if (depth <= 0 && BeginsOptions() && tokens_.Peek().place.begin != part.begin) break;
      if (tokens_.IsSymbol("?")) ++*parameters;
      tokens_.Take();
      part.end = tokens_.end_of_last();
    }
    return part;
  }

  absl::Status ReadOptions() {
    const size_t begin = tokens_.Peek().place.begin;
    while (true) {
      if (tokens_.IsWord("DRY") && tokens_.IsWord("RUN", 1)) {
        tokens_.Take();
        tokens_.Take();
        made_.is_dry_run = true;
      } else if (tokens_.TryWord("WITH")) {
        ARM_RETURN_IF_ERROR(tokens_.TakeWord("RATELIMIT"));
        ARM_ASSIGN_OR_RETURN(made_.rate, tokens_.TakeCount("the items per second", 1, kRateMax));
      } else {
        return absl::OkStatus();
      }
      made_.options = TextPlace{begin, tokens_.end_of_last()};
    }
  }

  SqlTokenReader tokens_;
  BulkStatement made_;
};

bool IsThrottle(const std::string& code) {
  return code == "ProvisionedThroughputExceeded" || code == "ThrottlingError" || code == "RequestLimitExceeded";
}

class BulkRun {
 public:
  BulkRun(const SqlContext& context, std::string_view text, const BulkStatement& statement)
      : context_(context), text_(text), statement_(statement) {}

  absl::StatusOr<SqlResult> Run() {
    if (statement_.returning.has_value()) {
      return SqlError("RETURNING is for a statement that names the whole key of one item", *statement_.returning);
    }
    // The values of the key follow those of the statement: a surplus one would be taken for a part of the key.
    if (context_.parameters.size() != statement_.action_parameters + statement_.where_parameters) {
      return UsageError("the statement needs as many --parameters as it has question marks");
    }
    ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(context_.client, statement_.table));
    for (const auto& element : table.key_schema()) key_.push_back(element.attribute_name());
    MakeStatements();
    if (context_.settings.explain) return Explain();
    if (statement_.is_dry_run) return DryRun();
    if (!context_.session.is_confirmed()) {
      absl::StatusOr<int64_t> count = Count(nullptr);
      if (!count.ok()) return WithPlace(count.status());
      total_ = *count;
      if (total_ == 0) return Summary("");
      ARM_RETURN_IF_ERROR(
          context_.session.Confirm(Cat(CountText(total_), " of ", statement_.table, " will be ", done())));
    } else {
      total_ = statement_.where.has_value() ? 0 : table.item_count();
    }
    return Write();
  }

 private:
  std::string_view done() const { return statement_.is_update ? "updated" : "deleted"; }
  static std::string CountText(int64_t count) { return Cat(WithCommas(count), count == 1 ? " item" : " items"); }
  std::string_view Part(TextPlace place) const { return text_.substr(place.begin, place.end - place.begin); }

  void MakeStatements() {
    std::string keys;
    std::string equalities;
    for (const std::string& name : key_) {
      keys += Cat(keys.empty() ? "" : ", ", QuotedName(name));
      equalities += Cat(equalities.empty() ? "" : " AND ", QuotedName(name), " = ?");
    }
    const std::string_view table = Part(statement_.target);
    read_ = Cat(" FROM ", table);
    write_ = statement_.is_update ? Cat("UPDATE ", table, " ", Part(statement_.actions)) : Cat("DELETE FROM ", table);
    write_ += " WHERE ";
    if (statement_.where.has_value()) {
      read_ += Cat(" WHERE ", Part(*statement_.where));
      write_ += Cat("(", Part(*statement_.where), ") AND ");
    }
    write_ += equalities;
    read_keys_ = Cat("SELECT ", keys, read_);
    reading_.parameters.erase(reading_.parameters.begin(),
                              reading_.parameters.begin() + static_cast<ptrdiff_t>(statement_.action_parameters));
  }

  absl::Status WithPlace(absl::Status status) const {
    if (status.ok() || PlaceIsOurs(status)) return status;
    const TextPlace where = statement_.where.value_or(TextPlace{});
    return WithPlaceOf(std::move(status), read_keys_, read_keys_.size() - (where.end - where.begin), where);
  }

  absl::StatusOr<SqlResult> Explain() const {
    api::v1::ExecuteStatementRequest request;
    request.set_statement(read_keys_);
    for (const AttributeValue& value : reading_.parameters) *request.add_parameters() = value;
    request.set_explain_only(true);
    const auto response = context_.client.ExecuteStatement(request);
    if (!response.ok()) return WithPlace(response.status());
    std::string plan = response->plan();
    while (plan.ends_with('\n')) plan.pop_back();
    plan += Cat("\nThe client counts the items and asks, unless --yes is given. Then it reads again, and ",
                statement_.is_update ? "updates" : "deletes", " each item by its key, if it still meets the condition");
    if (statement_.rate.has_value()) plan += Cat(", ", WithCommas(*statement_.rate), " items per second at most");
    return PlanResult(plan + ".");
  }

  // The number of items that meet the condition. `sample`: takes the first ones, or null.
  absl::StatusOr<int64_t> Count(std::vector<Item>* sample) {
    ProgressBar bar(&context_.session.progress(), context_.session.is_progress_live());
    int64_t count = 0;
    ARM_RETURN_IF_ERROR(ForEachItem(reading_, sample == nullptr ? read_keys_ : Cat("SELECT *", read_), 0,
                                    [&](Item item) -> absl::StatusOr<bool> {
                                      ++count;
                                      if (sample != nullptr && sample->size() < kDrySampleItems) {
                                        sample->push_back(std::move(item));
                                      }
                                      bar.Show({.what = Cat("count ", statement_.table), .done = count});
                                      return true;
                                    }));
    return count;
  }

  absl::StatusOr<SqlResult> DryRun() {
    SqlResult result{.is_read = true, .columns = key_};
    absl::StatusOr<int64_t> count = Count(&result.items);
    if (!count.ok()) return WithPlace(count.status());
    const bool is_part = *count > static_cast<int64_t>(result.items.size());
    result.text = Cat(CountText(*count), " of ", statement_.table, " would be ", done(), ".",
                      is_part ? Cat(" The first ", result.items.size(), ":") : std::string(), "\n");
    result.document = {{"WouldWrite", *count}};
    return result;
  }

  absl::StatusOr<SqlResult> Write() {
    ProgressBar bar(&context_.session.progress(), context_.session.is_progress_live());
    bar_ = &bar;
    begin_ = absl::Now();
    const size_t batch_max =
        statement_.rate.has_value() ? std::min<size_t>(kBatchMax, static_cast<size_t>(*statement_.rate)) : kBatchMax;
    std::vector<Item> batch;
    absl::Status status = ForEachItem(reading_, read_keys_, 0, [&](Item item) -> absl::StatusOr<bool> {
      batch.push_back(std::move(item));
      if (batch.size() < batch_max) return true;
      return WriteBatch(std::exchange(batch, {}));
    });
    if (status.ok() && !batch.empty()) status = WriteBatch(std::move(batch)).status();
    if (context_.is_interrupted()) return Summary("Interrupted: ");
    if (!status.ok()) {
      if (written_ + skipped_ + failed_ == 0) return WithPlace(std::move(status));
      return absl::Status(status.code(), Av(Cat(SummaryText("Ended by an error: "), " ", client::Describe(status))));
    }
    if (failed_ > 0) return absl::AbortedError(Av(Cat(SummaryText(""), " The first failure: ", first_failure_)));
    return Summary("");
  }

  // True if the next items are to be written.
  absl::StatusOr<bool> WriteBatch(std::vector<Item> items) {
    absl::Duration pause = kFirstPause;
    const absl::Time give_up = absl::Now() + context_.session.patience();
    while (!items.empty()) {
      KeepRate(items.size());
      if (context_.is_interrupted()) return false;
      ARM_ASSIGN_OR_RETURN(const auto response, context_.client.BatchExecuteStatement(RequestFor(items)));
      if (static_cast<size_t>(response.responses_size()) != items.size()) {
        return absl::InternalError(
            Av(Cat("the daemon has answered ", response.responses_size(), " of ", items.size(), " statements")));
      }
      std::vector<Item> throttled;
      for (size_t i = 0; i < items.size(); ++i) {
        const api::v1::BatchStatementResponse& answer = response.responses(static_cast<int>(i));
        if (answer.has_error() && IsThrottle(answer.error().code()) && absl::Now() < give_up) {
          throttled.push_back(std::move(items[i]));
        } else {
          Settle(answer);
        }
      }
      bar_->Show({.what = statement_.table, .done = written_ + skipped_ + failed_, .total = total_});
      items = std::move(throttled);
      if (items.empty()) break;
      Pause(pause);
      pause = std::min(pause * 2, kPauseMax);
    }
    return failed_ < kFailedMax && !context_.is_interrupted();
  }

  api::v1::BatchExecuteStatementRequest RequestFor(const std::vector<Item>& items) const {
    api::v1::BatchExecuteStatementRequest request;
    for (const Item& item : items) {
      api::v1::BatchStatementRequest& one = *request.add_statements();
      one.set_statement(write_);
      for (const AttributeValue& value : context_.parameters) *one.add_parameters() = value;
      for (const std::string& name : key_) {
        const auto found = item.attributes().find(name);
        *one.add_parameters() = found == item.attributes().end() ? AttributeValue() : found->second;
      }
    }
    return request;
  }

  void Settle(const api::v1::BatchStatementResponse& answer) {
    if (!answer.has_error()) {
      ++written_;
    } else if (answer.error().code() == "ConditionalCheckFailed") {
      ++skipped_;
    } else {
      if (failed_++ == 0) first_failure_ = Cat(answer.error().code(), ": ", answer.error().message());
    }
  }

  // Waits until the rate allows `count` more items.
  void KeepRate(size_t count) {
    if (statement_.rate.has_value()) {
      const double seconds = static_cast<double>(sent_) / static_cast<double>(*statement_.rate);
      Pause(begin_ + absl::Seconds(seconds) - absl::Now());
    }
    sent_ += static_cast<int64_t>(count);
  }

  // Returns earlier after an interrupt.
  void Pause(absl::Duration time) const {
    const absl::Time end = absl::Now() + time;
    while (absl::Now() < end && !context_.is_interrupted()) {
      absl::SleepFor(std::min(kPauseSlice, end - absl::Now()));
      if (bar_ != nullptr) {
        bar_->Show({.what = statement_.table, .done = written_ + skipped_ + failed_, .total = total_});
      }
    }
  }

  std::string SummaryText(std::string_view head) const {
    std::string text = Cat(head, CountText(written_), " of ", statement_.table, " ", done());
    if (skipped_ > 0) text += Cat(", ", WithCommas(skipped_), " skipped, which did not meet the condition any more");
    if (failed_ > 0) text += Cat(", ", WithCommas(failed_), " failed");
    if (failed_ >= kFailedMax) text += ", which ended it";
    return text + ".";
  }

  SqlResult Summary(std::string_view head) const {
    return TextResult(
        SummaryText(head),
        {{"Written", written_}, {"Skipped", skipped_}, {"Failed", failed_}, {"Interrupted", !head.empty()}});
  }

  const SqlContext& context_;
  SqlContext reading_{context_};  // with the parameters of the condition
  const std::string_view text_;
  const BulkStatement& statement_;
  std::vector<std::string> key_;  // attributes
  std::string read_;              // FROM and WHERE
  std::string read_keys_;
  std::string write_;
  ProgressBar* bar_ = nullptr;
  absl::Time begin_;
  int64_t total_ = 0;  // items that are expected; 0: unknown
  int64_t sent_ = 0;
  int64_t written_ = 0;
  int64_t skipped_ = 0;
  int64_t failed_ = 0;
  std::string first_failure_;
};

}  // namespace

absl::StatusOr<std::optional<BulkStatement>> ParseBulk(const std::vector<SqlToken>& tokens) {
  return BulkParser(tokens).Run();
}

bool LacksWholeKey(const absl::Status& status) {
  return client::ErrorName(status) == "ValidationException" && absl::StrContains(status.message(), Av(kNoWholeKey));
}

absl::StatusOr<SqlResult> RunBulk(const SqlContext& context, std::string_view text, const BulkStatement& statement) {
  return BulkRun(context, text, statement).Run();
}

}  // namespace armature::cli
