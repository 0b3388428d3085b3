#ifndef ARMATURE_TOOLS_ARMATURE_COPY_WIRE_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_WIRE_JSON_H_

// Documents of the original protocol, which a server that is not ours may have sent. Nothing here throws.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace armature::cli::copy {

// Members are in the order of their names, so that equal items print alike, and an object with a million members takes
// no quadratic time.
using Wire = nlohmann::json;

// Errors: INVALID_ARGUMENT for a text that is not one JSON object, or that nests deeper than a document of the protocol
// can. The error has the first bytes of the text.
absl::StatusOr<Wire> ParseWire(std::string_view text);

// On one line.
std::string WireText(const Wire& json);

// The member of an object. Null for an absent one, and for the member of anything else.
const Wire* Find(const Wire& json, std::string_view name);

// The member if it has the type, else an empty text, 0, false, or an empty list.
std::string TextIn(const Wire& json, std::string_view name);
int64_t NumberIn(const Wire& json, std::string_view name);
double RealIn(const Wire& json, std::string_view name);
bool FlagIn(const Wire& json, std::string_view name);
const Wire& ListIn(const Wire& json, std::string_view name);

// True if the member is a list.
bool HasList(const Wire& json, std::string_view name);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_WIRE_JSON_H_
