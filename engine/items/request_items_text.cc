#include "engine/items/request_items_text.h"

#include <map>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::engine {
namespace {

using model::ValueType;
using model::WireField;

// Recursion into values ends here: the shown text ends long before, but brackets alone are short.
constexpr int kDepthMax = 64;

// Appends JSON until it is longer than its bound. Malformed bytes count as the end of what they are in.
class Printer {
 public:
  explicit Printer(size_t bytes_max) : bytes_max_(bytes_max) {}

  std::string Take() && { return model::Shown(out_, bytes_max_); }

  void AddTables(const std::vector<TableKeys>& tables) {
    Open('{');
    for (const TableKeys& table : tables) {
      if (is_full()) return;
      AddName(table.table_name);
      AddTable(table);
    }
    Close('}');
  }

 private:
  bool is_full() const { return out_.size() > bytes_max_; }

  void Open(char bracket) {
    out_.push_back(bracket);
    is_first_ = true;
  }
  void Close(char bracket) {
    out_.push_back(bracket);
    is_first_ = false;
  }
  // Before each element or member.
  void Separate() {
    if (!is_first_) out_.push_back(',');
    is_first_ = false;
  }

  void AddString(std::string_view text) {
    out_.push_back('"');
    for (const char c : text.substr(0, bytes_max_ + 1)) {
      if (c == '"' || c == '\\') out_.push_back('\\');
      if (static_cast<unsigned char>(c) < 0x20) {
        absl::StrAppendFormat(&out_, "\\u%04x", static_cast<unsigned>(c));
      } else {
        out_.push_back(c);
      }
    }
    out_.push_back('"');
  }

  void AddName(std::string_view name) {
    Separate();
    AddString(name);
    out_.push_back(':');
  }

  void AddTable(const TableKeys& table) {
    Open('{');
    if (table.key_wires.has_value()) {
      AddName("Keys");
      Open('[');
      for (const std::string& key : *table.key_wires) {
        if (is_full()) return;
        Separate();
        AddEntries(key, 0);
      }
      Close(']');
    }
    const ExpressionParameters& expressions = table.expressions;
    if (expressions.legacy.attributes_to_get.has_value()) AddNames(*expressions.legacy.attributes_to_get);
    if (table.consistent_read.has_value()) {
      AddName("ConsistentRead");
      out_.append(*table.consistent_read ? "true" : "false");
    }
    if (expressions.projection.has_value()) {
      AddName("ProjectionExpression");
      AddString(*expressions.projection);
    }
    if (expressions.names.has_value()) AddPlaceholders(*expressions.names);
    Close('}');
  }

  void AddNames(const std::vector<std::string>& names) {
    AddName("AttributesToGet");
    Open('[');
    for (const std::string& name : names) {
      if (is_full()) return;
      Separate();
      AddString(name);
    }
    Close(']');
  }

  void AddPlaceholders(const StringMap<std::string>& names) {
    AddName("ExpressionAttributeNames");
    Open('{');
    for (const auto& [placeholder, name] : std::map<std::string_view, std::string_view>(names.begin(), names.end())) {
      if (is_full()) return;
      AddName(placeholder);
      AddString(name);
    }
    Close('}');
  }

  // An item or a map.
  void AddEntries(std::string_view wire, int depth) {
    Open('{');
    WireField entry;
    while (!is_full() && model::TakeField(&wire, &entry)) {
      std::string_view name;
      std::string_view value;
      WireField field;
      while (model::TakeField(&entry.bytes, &field)) (field.number == 1 ? name : value) = field.bytes;
      AddName(name);
      AddValue(value, depth + 1);
    }
    Close('}');
  }

  void AddValue(std::string_view wire, int depth) {
    Open('{');
    WireField member;
    while (!is_full() && depth <= kDepthMax && model::TakeField(&wire, &member)) {
      if (member.number > static_cast<uint32_t>(ValueType::kMap)) continue;
      const auto type = static_cast<ValueType>(member.number);
      AddName(model::ValueTypeName(type));
      AddBody(type, member, depth);
    }
    Close('}');
  }

  void AddBody(ValueType type, const WireField& member, int depth) {
    switch (type) {
      case ValueType::kBool:
      case ValueType::kNull:
        out_.append(member.varint != 0 ? "true" : "false");
        break;
      case ValueType::kList:
      case ValueType::kStringSet:
      case ValueType::kNumberSet:
      case ValueType::kBinarySet:
        AddElements(type, member.bytes, depth);
        break;
      case ValueType::kMap:
        AddEntries(member.bytes, depth);
        break;
      default:
        AddScalar(type, member.bytes);
    }
  }

  void AddElements(ValueType type, std::string_view body, int depth) {
    Open('[');
    WireField element;
    while (!is_full() && model::TakeField(&body, &element)) {
      Separate();
      if (type == ValueType::kList) {
        AddValue(element.bytes, depth + 1);
      } else {
        AddScalar(type == ValueType::kBinarySet ? ValueType::kBinary : ValueType::kString, element.bytes);
      }
    }
    Close(']');
  }

  void AddScalar(ValueType type, std::string_view bytes) {
    if (type != ValueType::kBinary) return AddString(bytes);
    AddString(absl::Base64Escape(Av(bytes.substr(0, bytes_max_))));
  }

  const size_t bytes_max_;
  std::string out_;
  bool is_first_ = true;  // no separator stands before the next element
};

}  // namespace

std::string RequestItemsText(const std::vector<TableKeys>& tables, size_t bytes_max) {
  Printer printer(bytes_max);
  printer.AddTables(tables);
  return std::move(printer).Take();
}

}  // namespace armature::engine
