#ifndef ARMATURE_DAEMON_API_WIRE_SOURCE_H_
#define ARMATURE_DAEMON_API_WIRE_SOURCE_H_

// The source of requests that are encoded messages (item_request_fields.h). They are read in place and never parsed
// into messages.
//
// As protobuf requires, unknown fields are ignored, the last of several scalars counts, and repeated occurrences of a
// message are joined, which merges them. A list or a map without elements is absent. Attribute values are not
// validated. A field of the wrong wire type is an error.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/api/message_parts.h"
#include "engine/items/request.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// A field, and what follows it in its message.
struct WireValue {
  model::WireField field;
  std::string_view rest;
};

// The fields of a message, as bits, by the wire type that they need. Their numbers are below 32.
struct KnownFields {
  explicit KnownFields(const google::protobuf::Descriptor& message);

  uint32_t varints = 0;
  uint32_t bytes = 0;
};

class WireSource {
 public:
  using Whole = std::string_view;
  using Value = WireValue;
  static constexpr bool kHasPresence = false;

  // `operation`: for errors. Errors: SerializationException.
  explicit WireSource(std::string_view operation) : operation_(operation) {}

  template <class Message, class Read>
  absl::Status Fields(std::string_view message, Read read) const {
    static const KnownFields kKnown(*Message::descriptor());
    WireValue value;
    while (!message.empty()) {
      if (!model::TakeField(&message, &value.field)) return Fault();
      const uint32_t bit = value.field.number < 32 ? uint32_t{1} << value.field.number : 0;
      if (((kKnown.varints | kKnown.bytes) & bit) == 0) continue;
      const bool is_varint = (kKnown.varints & bit) != 0;
      if (value.field.type != (is_varint ? model::WireType::kVarint : model::WireType::kBytes)) return Fault();
      value.rest = message;
      ARM_RETURN_IF_ERROR(read(value.field.number, value));
    }
    return absl::OkStatus();
  }
  template <class Message, class Read>
  absl::Status Structure(const WireValue& value, Read read) const {
    return Fields<Message>(value.field.bytes, read);
  }
  template <class Message, class Read>
  absl::Status ActionFields(const WireValue& value, Read read) const {
    return Fields<Message>(value.field.bytes, read);
  }

  absl::Status Text(const WireValue& value, std::optional<std::string>* to) const { return Text(value, Present(to)); }
  absl::Status RequiredText(const WireValue& value, std::optional<std::string>* to) const;
  template <class Enum>
  absl::Status Word(const WireValue& value, std::string* to) const {
    return Set(daemon::Text(static_cast<Enum>(static_cast<int32_t>(value.field.varint))), to);
  }
  template <class Bool>
  absl::Status Flag(const WireValue& value, Bool* to) const {
    return Set(value.field.varint != 0, to);
  }
  absl::Status Integer(const WireValue& value, std::optional<int64_t>* to) const {
    return Set(static_cast<int32_t>(value.field.varint), to);
  }
  absl::Status Position(const WireValue& value, uint64_t* to) const { return Set(value.field.varint, to); }

  absl::Status Item(const WireValue& value, std::string* to) const {
    to->append(value.field.bytes);
    return absl::OkStatus();
  }
  absl::Status Item(const WireValue& value, std::optional<std::string>* to) const { return Item(value, Present(to)); }
  absl::Status Values(const WireValue& value, std::optional<std::string>* to) const {
    model::AppendBytesField(1, value.field.bytes, Present(to));
    return absl::OkStatus();
  }
  absl::Status Names(const WireValue& value, std::optional<StringMap<std::string>>* to) const;
  absl::Status Texts(const WireValue& value, std::optional<std::vector<std::string>>* to) const {
    return Text(value, &Present(to)->emplace_back());
  }
  absl::Status AttributeValue(const WireValue& value, std::optional<std::string>* to) const;
  template <class Wires>
  absl::Status AttributeValues(const WireValue& value, Wires* to) const {
    Present(to)->emplace_back(value.field.bytes);
    return absl::OkStatus();
  }

  // The first field of a map reads all of them, because its entries are sorted by name, and the last of a name counts.
  template <class Message, class Entry, class Read>
  absl::Status LegacyMap(const WireValue& value, std::optional<std::vector<Entry>>* to, Read read) const {
    if (to->has_value()) return absl::OkStatus();
    std::map<std::string_view, std::string_view> entries;
    ARM_RETURN_IF_ERROR(TakeEntries(value, &entries));
    const WireSource in("");
    to->emplace();
    for (const auto& [name, message] : entries) {
      Entry& entry = (*to)->emplace_back();
      entry.attribute = std::string(name);
      ARM_RETURN_IF_ERROR(in.Fields<Message>(
          message, [&](uint32_t number, const WireValue& member) { return read(in, number, member, &entry); }));
    }
    return absl::OkStatus();
  }

  template <class To, class Read>
  absl::Status List(const WireValue& value, size_t max, To* to, Read read) const {
    auto* const list = Present(to);
    if (list->empty()) list->reserve(1 + Count(value, max));
    return read(value, engine::NextElement(max, list));
  }
  template <class Message, class Element, class Read>
  absl::Status Elements(const WireValue& value, size_t max, std::vector<Element>* to, Read read) const {
    return Structure<Message>(
        value, [&](uint32_t /*number*/, const WireValue& element) { return List(element, max, to, read); });
  }
  template <class Table, class Read>
  absl::Status Tables(const WireValue& value, std::string_view /*shape*/, size_t max, std::vector<Table>* to,
                      Read read) const {
    MapEntry entry;
    if (!entry.Read(value.field.bytes)) return Fault();
    WireValue table;
    table.field.bytes = entry.joined.empty() ? entry.value : entry.joined;
    return read(table, engine::NextTable(entry.name, max, to));
  }

 private:
  // An entry of a map, within the bytes of the message.
  struct MapEntry {
    // False if it is malformed, or its name is not UTF-8.
    [[nodiscard]] bool Read(std::string_view bytes);

    std::string_view name;
    std::string_view value;  // the last one
    std::string joined;      // all values, if there are several
    size_t values = 0;
  };

  template <class T>
  static T* Present(std::optional<T>* to) {
    return to->has_value() ? &**to : &to->emplace();
  }
  template <class T>
  static T* Present(T* to) {
    return to;
  }
  template <class Value, class To>
  static absl::Status Set(Value value, To* to) {
    *to = std::move(value);
    return absl::OkStatus();
  }

  absl::Status Fault() const;
  absl::Status Text(const WireValue& value, std::string* to) const;
  // Number of fields with the number of `value` behind it, at most `max`. For lists that reserve room.
  static size_t Count(const WireValue& value, size_t max);
  // The entries of a map: its field `value` and those behind it.
  static absl::Status TakeEntries(const WireValue& value, std::map<std::string_view, std::string_view>* entries);

  std::string_view operation_;  // empty within legacy parameters
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_WIRE_SOURCE_H_
