#include "tools/armature/items/short_reads.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "armature/client/client.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/items/item_argument.h"
#include "tools/armature/items/key_terms.h"
#include "tools/armature/items/read_request.h"
#include "tools/armature/items/short_commands.h"
#include "tools/armature/items/table_keys.h"

namespace armature::cli {
namespace {

constexpr int kTermsMax = 100;
constexpr const char* kShortOptions[] = {"--where",      "--number", "--all", "--reverse",
                                         "--consistent", "--typed",  "--wide"};

// Prints the items of a read up to the number that was asked for.
class ReadPrinter {
 public:
  // `expected`: number of entries that the read meets; 0: unknown.
  ReadPrinter(const Session& session, const ShortRead& read, ItemStyle style, int64_t expected)
      : session_(session),
        target_(read.target),
        expected_(expected),
        printer_(session, std::move(style)),
        is_bounded_by_user_(read.number > 0) {
    if (is_bounded_by_user_) {
      most_ = read.number;
    } else if (session.writes_terminal() && !read.is_all) {
      most_ = kTerminalItems;
    }
  }

  // Number of items that a page needs to have at most; 0: no bound.
  int64_t PageSize() const { return most_ == 0 || is_bounded_by_user_ ? most_ : most_ + 1; }

  // Prints the items of `pages` as they come.
  template <class Pages>
  absl::Status PrintAll(Pages pages) {
    while (!has_more_ && session_.is_output_open()) {
      if (most_ > 0 && count_ == most_ && is_bounded_by_user_) break;
      ARM_ASSIGN_OR_RETURN(const auto page, pages.NextPage());
      if (!page.has_value()) break;
      ARM_RETURN_IF_ERROR(PrintPage(page->items()));
      scanned_ += page->scanned_count();
      ShowProgress();
    }
    ARM_RETURN_IF_ERROR(printer_.Finish());
    bar_.reset();
    Tell();
    return absl::OkStatus();
  }

 private:
  // A bar, if the items go elsewhere than to the terminal with the bar.
  void ShowProgress() {
    if (session_.writes_terminal()) return;
    if (!bar_.has_value()) bar_.emplace(&session_.progress(), session_.is_progress_live());
    bar_->Show({.what = Cat("reading ", target_),
                .done = scanned_,
                .total = std::max(expected_, expected_ > 0 ? scanned_ : 0),
                .note = Cat(WithCommas(count_), " found")});
  }

  template <class Items>
  absl::Status PrintPage(const Items& items) {
    for (const api::v1::Item& item : items) {
      if (most_ > 0 && count_ == most_) {
        has_more_ = true;
        break;
      }
      ARM_RETURN_IF_ERROR(printer_.Add(item));
      ++count_;
    }
    session_.Flush();
    return absl::OkStatus();
  }

  // Says on a terminal how many items there were, and whether there are more.
  void Tell() const {
    TellHiddenColumns(session_, printer_.hidden_columns());
    if (has_more_ && !is_bounded_by_user_) {
      session_.progress() << WithCommas(count_) << " items shown; there are more: --all or -n N\n";
    } else if (session_.is_progress_live() && session_.writes_terminal()) {
      session_.progress() << (count_ == 1   ? "1 item"
                              : count_ == 0 ? "no items"
                                            : Cat(WithCommas(count_), " items"))
                          << "\n";
    }
  }

  const Session& session_;
  const std::string target_;
  const int64_t expected_;
  ItemPrinter printer_;
  std::optional<ProgressBar> bar_;
  int64_t scanned_ = 0;
  const bool is_bounded_by_user_;
  int64_t most_ = 0;  // 0: all
  int64_t count_ = 0;
  bool has_more_ = false;
};

struct CountOptions {
  std::string target;
  std::vector<std::string> terms;
  std::string where;
  bool is_consistent = false;
};

// Adds up the pages of a count, with a progress bar of the entries read.
template <class Pages>
absl::StatusOr<int64_t> AddUp(const Session& session, const TargetKeys& keys, Pages pages) {
  ProgressBar bar(&session.progress(), session.is_progress_live());
  int64_t count = 0;
  int64_t scanned = 0;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, pages.NextPage());
    if (!page.has_value()) return count;
    count += page->count();
    scanned += page->scanned_count();
    bar.Show({.what = Cat("reading ", keys.target.name), .done = scanned, .total = keys.item_count});
  }
}

absl::Status Count(const Session& session, const CountOptions& options) {
  ReadRequest read{.where = options.where, .is_consistent = options.is_consistent};
  ARM_ASSIGN_OR_RETURN(read.target, ParseTarget(options.target));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKeys keys, FindKeys(client, read.target));
  read.terms = options.terms;
  int64_t count = 0;
  if (FixPartition(keys, options.terms)) {
    ARM_ASSIGN_OR_RETURN(api::v1::QueryRequest request, MakeQuery(session, keys, read));
    request.set_select(api::v1::SELECT_COUNT);
    ARM_ASSIGN_OR_RETURN(count, AddUp(session, keys, client.QueryPages(std::move(request))));
  } else {
    ARM_ASSIGN_OR_RETURN(api::v1::ScanRequest request, MakeScan(session, keys, read));
    request.set_select(api::v1::SELECT_COUNT);
    ARM_ASSIGN_OR_RETURN(count, AddUp(session, keys, client.ScanPages(std::move(request))));
  }
  session.PrintText(Cat(count, "\n"));
  return absl::OkStatus();
}

constexpr char kTermsHelp[] =
    "Conditions: NAME=VALUE for the partition key; for the others also != < <= > >=, ^= (begins with), and "
    "'NAME between A and B'. A value without a name is that of the next key attribute";

}  // namespace

void AddShortRead(CLI::App& command, ReadKind kind, ShortRead* read) {
  command.add_option("TABLE", read->target, "Table, or TABLE/INDEX: the short form")->type_name("");
  if (kind == ReadKind::kQuery) {
    command.add_option("TERM", read->terms, kTermsHelp)->expected(1, kTermsMax)->type_name("");
    command.add_flag("--reverse", read->is_reversed, "Short form: descending order");
  }
  command.add_option("--where", read->where, "Short form: only items that meet this condition")->type_name("CONDITION");
  command.add_option("-n,--number", read->number, "Short form: print so many items at most")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()))
      ->type_name("N");
  command.add_flag("--all", read->is_all, "Short form: print all items also on a terminal, not only the first 1,000");
  command.add_flag("--consistent", read->is_consistent,
                   "Short form: see all acknowledged writes; not on a global index");
  AddShownItems(command, &read->shown);
}

std::string ShortOptionGiven(const CLI::App& command) {
  for (const char* name : kShortOptions) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) return name;
  }
  return "";
}

bool IsLongForm(const CLI::App& command) {
  const std::vector<const CLI::Option*> options = command.get_options();
  return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    if (option->count() == 0 || option->get_positional()) return false;
    const auto is_named = [option](const char* name) { return option->check_name(name); };
    return !is_named("--select") && std::none_of(std::begin(kShortOptions), std::end(kShortOptions), is_named);
  });
}

absl::Status RunShortRead(const Session& session, ReadKind kind, const ShortRead& short_read) {
  ReadRequest read{.terms = short_read.terms,
                   .where = short_read.where,
                   .select = short_read.select,
                   .is_reversed = short_read.is_reversed,
                   .is_consistent = short_read.is_consistent};
  ARM_ASSIGN_OR_RETURN(read.target, ParseTarget(short_read.target));
  ARM_ASSIGN_OR_RETURN(ItemStyle style, StyleOf(session, short_read.shown));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKeys keys, FindKeys(client, read.target));
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> selected, SelectedAttributes(session, read));
  style.first = selected.empty() ? keys.Names() : selected;
  style.columns = selected;
  ReadPrinter printer(session, short_read, std::move(style), kind == ReadKind::kScan ? keys.item_count : 0);
  const auto limit = static_cast<int32_t>(std::min<int64_t>(printer.PageSize(), std::numeric_limits<int32_t>::max()));
  if (kind == ReadKind::kQuery) {
    ARM_ASSIGN_OR_RETURN(api::v1::QueryRequest request, MakeQuery(session, keys, read));
    if (limit > 0 && !request.has_filter_expression()) request.set_limit(limit);
    return printer.PrintAll(client.QueryPages(std::move(request)));
  }
  ARM_ASSIGN_OR_RETURN(api::v1::ScanRequest request, MakeScan(session, keys, read));
  if (limit > 0 && !request.has_filter_expression()) request.set_limit(limit);
  return printer.PrintAll(client.ScanPages(std::move(request)));
}

void AddCountCommand(CLI::App& app, Action* action) {
  CLI::App& count = *app.add_subcommand("count", "Count the items of a table or index, or those that meet conditions");
  count.alias("c");
  auto& options = SetAction(count, action, Count);
  count.add_option("TABLE", options.target, "Table, or TABLE/INDEX")->required()->type_name("");
  count.add_option("TERM", options.terms, kTermsHelp)->expected(1, kTermsMax)->type_name("");
  count.add_option("--where", options.where, "Count only items that meet this condition")->type_name("CONDITION");
  count.add_flag("--consistent", options.is_consistent, "See all acknowledged writes; not on a global index");
  count.footer(R"(With the whole partition key it reads one partition, else the whole table or index.

Examples:
  armature count orders
  armature count orders/by_status status=open
  armature count orders --where 'amount > 100'
)");
}

}  // namespace armature::cli
