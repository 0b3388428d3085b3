#ifndef ARMATURE_ENGINE_TRANSFER_JSON_TEXT_H_
#define ARMATURE_ENGINE_TRANSFER_JSON_TEXT_H_

// Small JSON objects for manifests and reports of failed records. No library of the daemon writes them: simdjson reads
// JSON only, protobuf's printer writes 64-bit numbers as texts, and nlohmann-json is for the tools (decision 1).

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_format.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"

namespace armature::engine {

// An object whose members have the order in which they are added.
class JsonText {
 public:
  void Add(std::string_view name, std::string_view value) { AddRaw(name, Quoted(value)); }
  template <class T>
  requires std::is_integral_v<T>
  void Add(std::string_view name, T value) { AddRaw(name, Cat(value)); }
  // An empty value is null.
  void AddOrNull(std::string_view name, std::string_view value) {
    AddRaw(name, value.empty() ? "null" : Quoted(value));
  }
  std::string Take() const { return Cat("{", members_, "}"); }

  // Text that is not UTF-8 is shown with a question mark for each byte that is not ASCII.
  static std::string Quoted(std::string_view value) {
    const bool is_utf8 = codec::IsValidUtf8(value);
    std::string quoted = "\"";
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        quoted += {'\\', c};
      } else if (byte < 0x20) {
        quoted += absl::StrFormat("\\u%04x", byte);
      } else {
        quoted += byte >= 0x80 && !is_utf8 ? '?' : c;
      }
    }
    return quoted + '"';
  }

 private:
  void AddRaw(std::string_view name, std::string_view json) {
    members_ += Cat(members_.empty() ? "" : ",", Quoted(name), ":", json);
  }

  std::string members_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_JSON_TEXT_H_
