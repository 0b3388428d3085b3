#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/items/short_commands.h"
#include "tools/armature/items/short_reads.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

constexpr OptionSpec kKey{"--key", "The key attributes of the item", Presence::kRequired};
constexpr OptionSpec kNames{"--expression-attribute-names",
                            R"(The attribute names that #names stand for: {"#s": "status"})"};
constexpr OptionSpec kValues{"--expression-attribute-values",
                             R"(The values that :names stand for: {":v": {"S": "x"}})"};
constexpr OptionSpec kCapacity{"--return-consumed-capacity", "NONE, TOTAL or INDEXES"};

constexpr char kReturnOld[] = "NONE, or ALL_OLD for the item before the write";
constexpr char kReturnAny[] =
    "NONE; ALL_OLD, ALL_NEW: the item before or after the update; UPDATED_OLD, UPDATED_NEW: its updated attributes";

// Prints the whole response, or, as a table, the item in its member `member`.
void PrintItem(const Session& session, const Json& response, const char* member) {
  session.Print(response, [&response, member] {
    return response.contains(member) ? ItemsTable(Json::array({response[member]})) : "";
  });
}

// ChangeSequence is left out if it is 0, which means that the write has no change sequence: the documented response has
// no such member.
void PrintWrite(const Session& session, const google::protobuf::Message& message) {
  Json response = MessageToJson(message);
  if (response["ChangeSequence"] == 0) response.erase("ChangeSequence");
  PrintItem(session, response, "Attributes");
}

// The options of a write. `more` follows the table name.
std::vector<OptionSpec> WriteOptions(const char* return_values, const std::vector<OptionSpec>& more) {
  std::vector<OptionSpec> options{kTableNameOption};
  options.insert(options.end(), more.begin(), more.end());
  options.insert(options.end(), {{"--condition-expression", "Write only if the stored item meets this condition"},
                                 {"--return-values", return_values},
                                 {"--return-item-collection-metrics", "NONE or SIZE"},
                                 kNames,
                                 kValues,
                                 kCapacity});
  return options;
}

constexpr char kPutExamples[] = R"(Examples:
  armature item put --table-name GameScores \
      --item '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}, "TopScore": {"N": "5842"}}'
  armature item put --table-name GameScores --item @score.json \
      --condition-expression 'attribute_not_exists(UserId)'
)";

constexpr char kGetExamples[] = R"(Examples:
  armature item get --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' --consistent-read
)";

constexpr char kUpdateExamples[] = R"(Examples:
  armature item update --table-name GameScores --return-values UPDATED_NEW \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = TopScore + :more REMOVE Pending ADD Plays :one' \
      --expression-attribute-values '{":more": {"N": "100"}, ":one": {"N": "1"}}'
  armature item update --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = :score' --condition-expression 'TopScore < :score' \
      --expression-attribute-values '{":score": {"N": "6000"}}'
)";

constexpr char kDeleteExamples[] = R"(Examples:
  armature item delete --table-name GameScores --return-values ALL_OLD \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}'
)";

void AddCapacity(const api::v1::Capacity& part, api::v1::Capacity* sum) {
  sum->set_capacity_units(sum->capacity_units() + part.capacity_units());
}

void AddConsumed(const api::v1::ConsumedCapacity& page, api::v1::ConsumedCapacity* sum) {
  sum->set_table_name(page.table_name());
  sum->set_capacity_units(sum->capacity_units() + page.capacity_units());
  if (page.has_table()) AddCapacity(page.table(), sum->mutable_table());
  for (const auto& [name, part] : page.local_secondary_indexes()) {
    AddCapacity(part, &(*sum->mutable_local_secondary_indexes())[name]);
  }
  for (const auto& [name, part] : page.global_secondary_indexes()) {
    AddCapacity(part, &(*sum->mutable_global_secondary_indexes())[name]);
  }
}

// Adds up the pages of a Query or Scan, and prints them as one page.
class Collector {
 public:
  template <class Page>
  void Add(const Page& page) {
    for (const api::v1::Item& item : page.items()) items_.push_back(MessageToJson(item));
    count_ += page.count();
    scanned_count_ += page.scanned_count();
    if (page.has_consumed_capacity()) {
      if (!consumed_.has_value()) consumed_.emplace();
      AddConsumed(page.consumed_capacity(), &*consumed_);
    }
    last_key_.reset();
    if (page.has_last_evaluated_key()) last_key_ = MessageToJson(page.last_evaluated_key());
  }

  void Print(const Session& session, bool count_only) const {
    session.Print(ToJson(count_only), [this] { return ToText(); });
  }

 private:
  Json ToJson(bool count_only) const {
    Json json = Json::object();
    if (!count_only) json["Items"] = items_;
    json["Count"] = count_;
    json["ScannedCount"] = scanned_count_;
    if (last_key_.has_value()) json["LastEvaluatedKey"] = *last_key_;
    json["ConsumedCapacity"] = consumed_.has_value() ? MessageToJson(*consumed_) : Json();
    return json;
  }

  std::string ToText() const {
    std::string text = ItemsTable(items_);
    if (!text.empty()) text += "\n";
    text += Cat("Count: ", count_, "  ScannedCount: ", scanned_count_);
    if (consumed_.has_value()) {
      text += Cat("  CapacityUnits: ", CompactJson(Json(consumed_->capacity_units())));
    }
    text += "\n";
    if (last_key_.has_value()) text += Cat("LastEvaluatedKey: ", CompactJson(*last_key_), "\n");
    return text;
  }

  Json items_ = Json::array();
  int64_t count_ = 0;
  int64_t scanned_count_ = 0;
  std::optional<Json> last_key_;
  std::optional<api::v1::ConsumedCapacity> consumed_;
};

template <class Pages>
absl::Status Collect(const Session& session, Pages pages, bool all_pages, bool count_only) {
  Collector collector;
  do {
    ARM_ASSIGN_OR_RETURN(const auto page, pages.NextPage());
    if (!page.has_value()) break;
    collector.Add(*page);
  } while (all_pages);
  collector.Print(session, count_only);
  return absl::OkStatus();
}

// Options that Query and Scan share, and then `more`.
std::vector<OptionSpec> ReadOptions(const std::vector<OptionSpec>& more) {
  std::vector<OptionSpec> specs{
      kTableNameOption,
      {"--index-name", "Read this index instead of the table"},
      {"--filter-expression", "Drop the items that do not meet this condition, after they were read"},
      {"--projection-expression", "Return only these attributes"},
      kNames,
      kValues,
      {"--select",
       "Short form: print only these attributes, PATH,...; long form: ALL_ATTRIBUTES, "
       "ALL_PROJECTED_ATTRIBUTES, SPECIFIC_ATTRIBUTES or COUNT"},
      {"--limit", "Maximum number of entries to read for a page"},
      {"--exclusive-start-key", "LastEvaluatedKey of the previous page"},
      {"--consistent-read", "Strongly consistent: see all acknowledged writes; not on a global index"},
      {"--at-least-sequence", "Global index: wait until it holds the write that returned this ChangeSequence"},
      kCapacity,
  };
  specs.insert(specs.end(), more.begin(), more.end());
  return specs;
}

// OK unless the command line mixes the two forms of a command.
absl::Status CheckForm(const CLI::App& command, const ShortRead& short_form) {
  if (!IsLongForm(command)) return absl::OkStatus();
  std::string given = ShortOptionGiven(command);
  if (given.empty() && !short_form.terms.empty()) given = short_form.terms.front();
  if (!given.empty()) {
    const std::string& name = command.get_name();
    return UsageError(Cat(given, " belongs to the short form; the short form is ", name,
                          " TABLE[/INDEX], the long form ", name, " --table-name TABLE"));
  }
  const bool has_option = command.get_option(kTableNameOption.name)->count() > 0;
  if (short_form.target.empty() || !has_option) return absl::OkStatus();
  return UsageError(Cat("the table is given twice: ", short_form.target));
}

// True for the long form. The argument TABLE, if it has one, becomes its --table-name.
bool TakeLongForm(CLI::App& command, const ShortRead& short_form) {
  if (!IsLongForm(command)) return short_form.target.empty() && ShortOptionGiven(command).empty();
  if (short_form.target.empty()) return true;
  CLI::Option* const table = command.get_option(kTableNameOption.name);
  table->add_result(short_form.target);
  table->run_callback();
  return true;
}

// Adds a command with the options of `command`, the long form, and the arguments of the short form.
template <class Request, class Pages>
void AddRead(CLI::App& app, Action* action, ReadKind kind, const RequestCommand& command,
             Pages (client::Client::*pages)(Request, client::CallOptions) const) {
  CLI::App& read = *app.add_subcommand(command.name, command.description);
  read.alias(std::string(1, *command.name));
  const auto short_form = std::make_shared<ShortRead>();
  AddShortRead(read, kind, short_form.get());
  const auto long_form = std::make_shared<RequestOptions>(read, *Request::descriptor(), command.options);
  const auto all_pages = std::make_shared<bool>(false);
  read.add_flag("--all-pages", *all_pages, "Read all pages and print them as one");
  read.footer(command.footer);
  // Decided only by the action, as the table in use may have been filled in after the parser.
  SetAction(read, action, [=, &read](const Session& session) -> absl::Status {
    ARM_RETURN_IF_ERROR(CheckForm(read, *short_form));
    if (!TakeLongForm(read, *short_form)) {
      short_form->select = long_form->TextOf("--select");
      return RunShortRead(session, kind, *short_form);
    }
    ARM_ASSIGN_OR_RETURN(const Request request, long_form->template Build<Request>());
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    const bool count_only = request.select() == api::v1::SELECT_COUNT;
    return Collect(session, (client.*pages)(request, {}), *all_pages, count_only);
  });
}

}  // namespace

void AddItemCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("item", "Put, get, update and delete single items");
  group.require_subcommand(1);
  AddRequestCommand(group, action,
                    {"put", "Create an item, or replace it as a whole",
                     WriteOptions(kReturnOld, {{"--item", "The whole item", Presence::kRequired}}), kPutExamples},
                    &client::Client::PutItem, PrintWrite);
  AddRequestCommand(group, action,
                    {"get",
                     "Read an item by its key; prints {} if it does not exist",
                     {kTableNameOption,
                      kKey,
                      {"--consistent-read", "Strongly consistent: see all acknowledged writes"},
                      {"--projection-expression", "Return only these attributes"},
                      kNames,
                      kCapacity},
                     kGetExamples},
                    &client::Client::GetItem, [](const Session& session, const api::v1::GetItemResponse& response) {
                      PrintItem(session, MessageToJson(response), "Item");
                    });
  AddRequestCommand(
      group, action,
      {"update", "Change some attributes of an item, or create it",
       WriteOptions(kReturnAny,
                    {kKey,
                     {"--update-expression",
                      "SET, REMOVE, ADD and DELETE clauses; without it, only create the item if it is missing"}}),
       kUpdateExamples},
      &client::Client::UpdateItem, PrintWrite);
  AddRequestCommand(group, action,
                    {"delete", "Delete an item by its key", WriteOptions(kReturnOld, {kKey}), kDeleteExamples},
                    &client::Client::DeleteItem, PrintWrite);

  AddShortWriteCommands(app, action);
  AddRead(app, action, ReadKind::kQuery,
          {"query", "Read the items of one partition, in the order of the sort key",
           ReadOptions({{"--key-condition-expression",
                         "A condition of equality on the partition key, and conditions on the sort key"},
                        {"--scan-index-forward", "Ascending order; the default"}}),
           R"(Examples:
  armature query orders/by_status status=open 'amount>100' --reverse -n 5
  armature query orders customer=C1 'date between 2026-01-01 and 2026-01-31' --select date,amount
  armature query --table-name GameScores --index-name GameTitleIndex --no-scan-index-forward \
      --key-condition-expression 'GameTitle = :v_title' \
      --expression-attribute-values '{":v_title": {"S": "Meteor Blasters"}}'
  armature --output table query --table-name orders-table --index-name OrdersByStatusDateAmount \
      --key-condition-expression 'customer_id = :cust AND #status = :status' \
      --expression-attribute-names '{"#status": "status"}' \
      --expression-attribute-values '{":cust": {"S": "1A2B3C"}, ":status": {"S": "PENDING"}}'
)"},
          &client::Client::QueryPages);
  AddRead(app, action, ReadKind::kScan,
          {"scan", "Read a whole table or index",
           ReadOptions({{"--segment", "Read only this segment of the table, counted from 0"},
                        {"--total-segments", "Number of segments"}}),
           R"(Examples:
  armature scan orders --where 'amount > 100 and not contains(tags, "new")' --output csv
  armature scan --table-name Thread --all-pages
  armature scan --table-name Thread --filter-expression 'Replies > :n' \
      --expression-attribute-values '{":n": {"N": "10"}}'
  armature scan --table-name Thread --segment 0 --total-segments 4 --all-pages
)"},
          &client::Client::ScanPages);
  AddCountCommand(app, action);
  AddTruncateCommand(app, action);
}

}  // namespace armature::cli
