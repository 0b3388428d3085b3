#include "daemon/json/item_requests.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/item_request_fields.h"
#include "daemon/message_json/item_reader.h"
#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/message_names.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

// The numbers of the fields of messages by their names in JSON. Messages are small and their first members are the most
// frequent, so a search in order is fast.
class FieldNumbers {
 public:
  FieldNumbers(std::initializer_list<const google::protobuf::Descriptor*> messages) {
    for (const google::protobuf::Descriptor* const message : messages) {
      for (const JsonShape::Member& member : ShapeOf(*message).members) {
        if (Find(member.name) == 0) fields_.emplace_back(member.name, member.field->number());
      }
    }
    shape_ = ShapeOf(**messages.begin()).name;
  }

  // 0 for an unknown name.
  uint32_t Find(std::string_view name) const {
    for (const auto& [field, number] : fields_) {
      if (field == name) return number;
    }
    return 0;
  }
  // The name of the first message in error texts.
  std::string_view shape() const { return shape_; }

 private:
  std::vector<std::pair<std::string_view, uint32_t>> fields_;
  std::string_view shape_;
};

// The source of requests that are documents (daemon/api/item_request_fields.h). Among members with one name the last
// one counts.
class JsonSource {
 public:
  using Whole = const std::string&;
  using Value = JsonValue;
  static constexpr bool kHasPresence = true;

  template <class Message, class Read>
  absl::Status Fields(const std::string& document, Read read) const {
    const FieldNumbers& numbers = NumbersOf<Message>();
    return ReadRequest(document, numbers.shape(), [&](std::string_view name, JsonValue value) {
      const uint32_t number = numbers.Find(name);
      return number == 0 ? absl::OkStatus() : read(number, value);
    });
  }
  template <class Message, class Read>
  absl::Status Structure(JsonValue value, Read read) const {
    return ReadFields(value, NumbersOf<Message>(), read);
  }
  // An action may have the members of all actions.
  template <class Message, class Read>
  absl::Status ActionFields(JsonValue value, Read read) const {
    return ReadFields(value, NumbersOf<Message, v1::Put, v1::Update>(), read);
  }

  absl::Status Text(JsonValue value, std::optional<std::string>* to) const { return ReadString(value, to); }
  absl::Status RequiredText(JsonValue value, std::optional<std::string>* to) const { return ReadString(value, to); }
  template <class Enum>
  absl::Status Word(JsonValue value, std::string* to) const {
    return ReadWord(value, to);
  }
  template <class Bool>
  absl::Status Flag(JsonValue value, Bool* to) const {
    return ReadBoolean(value, to);
  }
  absl::Status Integer(JsonValue value, std::optional<int64_t>* to) const { return ReadInteger(value, to); }
  // Documents have no positions: they are in a header.
  absl::Status Position(JsonValue /*value*/, uint64_t* /*to*/) const { return absl::OkStatus(); }

  template <class Wire>
  absl::Status Item(JsonValue value, Wire* to) const {
    return ReadItem(value, to);
  }
  absl::Status Values(JsonValue value, std::optional<std::string>* to) const { return ReadItem(value, to); }
  absl::Status Names(JsonValue value, std::optional<StringMap<std::string>>* to) const {
    return ReadStringMap(value, to);
  }
  absl::Status Texts(JsonValue value, std::optional<std::vector<std::string>>* to) const {
    return ReadStringList(value, to);
  }
  absl::Status AttributeValue(JsonValue value, std::optional<std::string>* to) const {
    return ReadAttributeValue(value, to);
  }
  template <class Wires>
  absl::Status AttributeValues(JsonValue value, Wires* to) const {
    return ReadAttributeValueList(value, to);
  }

  // The map by name sorts the entries and keeps the last of several with one name.
  template <class Message, class Entry, class Read>
  absl::Status LegacyMap(JsonValue value, std::optional<std::vector<Entry>>* to, Read read) const {
    std::map<std::string_view, Entry> entries;
    const FieldNumbers& numbers = NumbersOf<Message>();
    ARM_RETURN_IF_ERROR(ReadMap(value, numbers.shape(), [&](std::string_view attribute, JsonValue structure) {
      Entry entry;
      entry.attribute = std::string(attribute);
      absl::Status status = ReadFields(
          structure, numbers, [&](uint32_t number, JsonValue member) { return read(*this, number, member, &entry); });
      if (status.ok()) entries.insert_or_assign(attribute, std::move(entry));
      return status;
    }));
    to->emplace();
    for (auto& [attribute, entry] : entries) (*to)->push_back(std::move(entry));
    return absl::OkStatus();
  }

  template <class Element, class Read>
  absl::Status List(JsonValue value, size_t max, std::vector<Element>* to, Read read) const {
    to->clear();
    return ReadList(value, [&](JsonValue element) { return read(element, engine::NextElement(max, to)); });
  }
  template <class Element, class Read>
  absl::Status List(JsonValue value, size_t max, std::optional<std::vector<Element>>* to, Read read) const {
    return List(value, max, &to->emplace(), read);
  }
  template <class Message, class Element, class Read>
  absl::Status Elements(JsonValue value, size_t max, std::vector<Element>* to, Read read) const {
    return IsNull(value) ? absl::OkStatus() : List(value, max, to, read);
  }
  template <class Table, class Read>
  absl::Status Tables(JsonValue value, std::string_view shape, size_t max, std::vector<Table>* to, Read read) const {
    to->clear();
    return ReadMap(value, shape, [&](std::string_view table, JsonValue inner) {
      return read(inner, engine::NextTable(table, max, to));
    });
  }

 private:
  template <class... Messages>
  static const FieldNumbers& NumbersOf() {
    static const auto* const kNumbers = new FieldNumbers({Messages::descriptor()...});
    return *kNumbers;
  }

  template <class Read>
  static absl::Status ReadFields(JsonValue value, const FieldNumbers& numbers, Read read) {
    return ReadStructure(value, numbers.shape(), [&](std::string_view name, JsonValue member) {
      const uint32_t number = numbers.Find(name);
      return number == 0 ? absl::OkStatus() : read(number, member);
    });
  }
};

constexpr ItemRequestFields<JsonSource> kFields{JsonSource()};

}  // namespace

absl::StatusOr<engine::GetItemRequest> ParseGetItem(const std::string& json) { return kFields.GetItem(json); }

absl::StatusOr<engine::WriteRequest> ParsePutItem(const std::string& json) {
  return kFields.WriteItem<v1::PutItemRequest>(json);
}

absl::StatusOr<engine::WriteRequest> ParseUpdateItem(const std::string& json) {
  return kFields.WriteItem<v1::UpdateItemRequest>(json);
}

absl::StatusOr<engine::WriteRequest> ParseDeleteItem(const std::string& json) {
  return kFields.WriteItem<v1::DeleteItemRequest>(json);
}

absl::StatusOr<engine::ReadRequest> ParseQuery(const std::string& json) { return kFields.Query(json); }

absl::StatusOr<engine::ReadRequest> ParseScan(const std::string& json) { return kFields.Scan(json); }

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(const std::string& json) {
  return kFields.BatchGetItem(json);
}

absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(const std::string& json) {
  return kFields.BatchWriteItem(json);
}

absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(const std::string& json) {
  return kFields.TransactGetItems(json);
}

absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(const std::string& json) {
  return kFields.TransactWriteItems(json);
}

}  // namespace armature::daemon
