#include "tools/armature/error_hints.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/errors.h"
#include "google/protobuf/message.h"
#include "storage/base/did_you_mean.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/tables/table_screen.h"

namespace armature::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr absl::Duration kPatience = absl::Seconds(2);
constexpr size_t kNamesMax = 12;
constexpr int64_t kLargestItemBytes = 409'600;

client::CallOptions Quick() { return {.timeout = kPatience}; }

bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string TextOf(const Message& message, const char* name) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return "";
  return message.GetReflection()->GetString(message, field);
}

const api::v1::Item* ItemOf(const Message& message, const char* name) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  if (!message.GetReflection()->HasField(message, field)) return nullptr;
  return dynamic_cast<const api::v1::Item*>(&message.GetReflection()->GetMessage(message, field));
}

// The names of tables in a request: its own, and those of the parts of batches and transactions.
void CollectTables(const Message& message, std::set<std::string>* tables) {
  if (const std::string name = TextOf(message, "table_name"); !name.empty()) tables->insert(name);
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const bool is_by_table = field->name() == "request_items";
    const bool is_actions =
        field->name() == "transact_items" || message.GetDescriptor()->name().starts_with("Transact");
    if (!is_by_table && !is_actions) continue;
    if (!field->is_repeated()) {
      CollectTables(message.GetReflection()->GetMessage(message, field), tables);
      continue;
    }
    for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
      const Message& part = message.GetReflection()->GetRepeatedMessage(message, field, i);
      if (is_by_table) {
        tables->insert(TextOf(part, "key"));
      } else {
        CollectTables(part, tables);
      }
    }
  }
}

std::string TypeOf(const api::v1::AttributeValue& value) {
  const FieldDescriptor* const field =
      value.GetReflection()->GetOneofFieldDescriptor(value, value.GetDescriptor()->FindOneofByName("value"));
  std::string name = field == nullptr ? "?" : field->name();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

// "a S, b N", of at most kNamesMax attributes.
std::string AttributesText(const api::v1::Item& item) {
  std::vector<std::string> names;
  for (const auto& [name, value] : item.attributes()) names.push_back(Cat(name, " ", TypeOf(value)));
  std::sort(names.begin(), names.end());
  const bool is_cut = names.size() > kNamesMax;
  if (is_cut) names.resize(kNamesMax);
  return Cat(Sv(absl::StrJoin(names, ", ")), is_cut ? ", ..." : "");
}

// Makes the hints about one request that the daemon has refused.
class Advisor {
 public:
  Advisor(client::Client client, const CLI::App& app, const Message& request, std::string_view message)
      : client_(std::move(client)), app_(app), request_(request), message_(message) {
    CollectTables(request, &tables_);
    tables_.erase("");
  }

  std::vector<std::string> Run(std::string_view error, const std::string& client_hint) {
    if (error == "ResourceNotFoundException") {
      MissingTables();
    } else if (Has(message_, "does not have the specified index")) {
      MissingIndex();
    } else if (Has(message_, "does not match the schema") || Has(message_, "Missing the key") ||
               Has(message_, "Type mismatch for key") || Has(message_, "was not given a value")) {
      WrongKey();
    } else if (Has(message_, "key schema element") || Has(message_, "key condition not supported")) {
      WrongCondition(client_hint);
    } else if (Has(message_, "reserved keyword: ")) {
      ReservedWord();
    } else if (Has(message_, "Item size")) {
      LargeItem();
    } else if (Has(message_, "significant digits")) {
      const size_t place = client_hint.find("the number is in");
      if (place != client_hint.npos) hints_.push_back(client_hint.substr(place));
    } else if (error == "ResourceInUseException" && Has(message_, "already exists")) {
      for (const std::string& table : tables_) hints_.push_back(Cat("it is shown by: armature describe ", table));
    }
    return std::move(hints_);
  }

 private:
  std::optional<api::v1::TableDescription> Describe(const std::string& table) {
    api::v1::DescribeTableRequest request;
    request.set_table_name(table);
    auto response = client_.DescribeTable(request, Quick());
    if (!response.ok()) return std::nullopt;
    return std::move(*response->mutable_table());
  }

  void MissingTables() {
    const auto page = client_.ListTables(api::v1::ListTablesRequest(), Quick());
    if (!page.ok()) return;
    const std::vector<std::string> names(page->table_names().begin(), page->table_names().end());
    for (const std::string& table : tables_) {
      if (table.starts_with("arn:") || std::find(names.begin(), names.end(), table) != names.end()) continue;
      if (page->has_last_evaluated_table_name() && Describe(table).has_value()) continue;
      std::string hint = Cat("there is no table '", table, "'", DidYouMean(table, names));
      if (names.empty()) {
        hint += "; the daemon has no tables";
      } else if (names.size() <= kNamesMax && !hint.ends_with('?')) {
        hint += Cat("; there are: ", Sv(absl::StrJoin(names, ", ")));
      }
      hints_.push_back(std::move(hint));
    }
  }

  void MissingIndex() {
    const std::string index = TextOf(request_, "index_name");
    for (const std::string& table : tables_) {
      const auto described = Describe(table);
      if (!described.has_value()) continue;
      std::vector<std::string> names;
      for (const auto& each : described->local_secondary_indexes()) names.push_back(each.index_name());
      for (const auto& each : described->global_secondary_indexes()) names.push_back(each.index_name());
      hints_.push_back(names.empty() ? Cat("the table ", table, " has no indexes")
                                     : Cat("the indexes of ", table, ": ", Sv(absl::StrJoin(names, ", ")),
                                           DidYouMean(index, names)));
    }
  }

  void WrongKey() {
    for (const std::string& table : tables_) {
      const auto described = Describe(table);
      if (described.has_value()) {
        hints_.push_back(Cat("the key of ", table, " is ", KeyText(*described, described->key_schema())));
      }
    }
    const api::v1::Item* given = ItemOf(request_, "key");
    if (given == nullptr) given = ItemOf(request_, "item");
    if (given != nullptr) {
      const std::string text = AttributesText(*given);
      hints_.push_back(text.empty() ? "nothing was given" : Cat("given: ", text));
    }
  }

  void WrongCondition(const std::string& client_hint) {
    constexpr std::string_view kConditionNames = "the key condition names ";
    if (const size_t at = client_hint.find(kConditionNames); at != client_hint.npos) {
      hints_.push_back(client_hint.substr(at, client_hint.find("; ", at) - at));
    }
    for (const std::string& table : tables_) {
      const auto described = Describe(table);
      if (!described.has_value()) continue;
      hints_.push_back(Cat("the key of ", table, " is ", KeyText(*described, described->key_schema())));
      const auto add = [&](const auto& index) {
        hints_.push_back(
            Cat("the key of its index ", index.index_name(), " is ", KeyText(*described, index.key_schema())));
      };
      for (const auto& index : described->local_secondary_indexes()) add(index);
      for (const auto& index : described->global_secondary_indexes()) add(index);
    }
    const auto has_option = [](const CLI::App* command) {
      return command->get_name() == "query" && command->get_option_no_throw("--where") != nullptr;
    };
    const bool has_where = !app_.get_subcommands(has_option).empty();
    hints_.push_back(Cat("conditions on other attributes go into ", has_where ? "--where" : "--filter-expression",
                         ", and armature scan needs no key"));
  }

  void ReservedWord() {
    constexpr std::string_view kMark = "reserved keyword: ";
    const std::string_view rest = std::string_view(message_).substr(message_.find(kMark) + kMark.size());
    const auto end =
        std::find_if_not(rest.begin(), rest.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    const std::string word(rest.begin(), end);
    hints_.push_back(Cat("write #", word, " instead of ", word, ", and --expression-attribute-names '{\"#", word,
                         "\": \"", word, "\"}'"));
  }

  void LargeItem() {
    std::string hint =
        Cat("an item may have ", WithCommas(kLargestItemBytes), " bytes, with the names of its attributes");
    const api::v1::Item* const item = ItemOf(request_, "item");
    if (item != nullptr && !item->attributes().empty()) {
      const auto by_size = [](const auto& a, const auto& b) {
        return a.second.ByteSizeLong() < b.second.ByteSizeLong();
      };
      const auto largest = std::max_element(item->attributes().begin(), item->attributes().end(), by_size);
      hint += Cat("; this one has about ", WithCommas(static_cast<int64_t>(item->ByteSizeLong())),
                  ", of which the attribute ", largest->first, " has ",
                  WithCommas(static_cast<int64_t>(largest->second.ByteSizeLong())));
    }
    hints_.push_back(std::move(hint));
  }

  const client::Client client_;
  const CLI::App& app_;
  const Message& request_;
  const std::string message_;
  std::set<std::string> tables_;
  std::vector<std::string> hints_;
};

// The table in "Table T has no stream".
std::string TableWithoutStream(std::string_view message) {
  constexpr std::string_view kHead = "Table ";
  const size_t end = message.find(" has no stream");
  if (!message.starts_with(kHead) || end == message.npos) return "";
  return std::string(message.substr(kHead.size(), end - kHead.size()));
}

}  // namespace

std::vector<std::string> HintsFor(const Session& session, const CLI::App& app, const absl::Status& status) {
  const std::string message(status.message());
  if (ExitCodeOf(status) == ExitCode::kUnreachable) {
    if (!session.has_connected()) return {};
    if (Has(message, "over TLS")) return {"connect by --tls or --tls-ca FILE"};
    if (session.endpoint() != kDefaultEndpoint) return {};
    return {"another daemon is named by --endpoint HOST:PORT, ARMATURE_ENDPOINT or a profile"};
  }
  const std::string error = client::ErrorName(status);
  if (error.empty()) return {};
  if (const std::string table = TableWithoutStream(message); !table.empty()) {
    return {Cat("enable it by: armature table update --table-name ", table,
                " --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES")};
  }
  const std::shared_ptr<const Message> request = session.FailedRequest(status);
  if (request == nullptr) return {};
  absl::StatusOr<client::Client> client = session.Connect();
  if (!client.ok()) return {};
  return Advisor(*std::move(client), app, *request, message).Run(error, client::HintOf(status));
}

}  // namespace armature::cli
