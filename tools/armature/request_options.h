#ifndef ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_
#define ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_

// Turns the options of a command into a request.
//
// The option --key-condition-expression sets the member KeyConditionExpression of the documented
// request, and so on for all; --cli-input-json gives the whole request, over which single options
// prevail. So one reader (message_json.h) checks them all, and an option needs no code of its own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/status_macros.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli {

enum class OptionKind {
  kText,
  kInteger,
  kFlag,           // --x for true, --no-x for false.
  kJson,           // JSON or @file.
  kShorthand,      // Name=value,..., JSON or @file.
  kShorthandList,  // The same, any number of times.
  kTextList,       // Any number of texts.
};

enum class Presence { kOptional, kRequired };

struct OptionSpec {
  std::string name;  // With its dashes.
  OptionKind kind = OptionKind::kText;
  std::string help;
  Presence presence = Presence::kOptional;
};

// Must live until the action of its command has run. Not thread-safe.
class RequestOptions {
 public:
  // Adds the options to `command`, and --cli-input-json.
  RequestOptions(CLI::App& command, std::vector<OptionSpec> specs);

  RequestOptions(const RequestOptions&) = delete;
  RequestOptions& operator=(const RequestOptions&) = delete;

  // The request that the command line asks for. Errors: UsageError.
  template <class Request>
  absl::StatusOr<Request> Build() const {
    ARM_ASSIGN_OR_RETURN(const Json json, ToJson());
    Request request;
    const absl::Status status = MessageFromJson(json, "", &request);
    if (!status.ok()) return UsageError(Sv(status.message()));
    return request;
  }

 private:
  struct Entry {
    OptionSpec spec;
    CLI::Option* option = nullptr;
    std::vector<std::string> texts;
    int64_t integer = 0;
    bool flag = false;
  };

  absl::StatusOr<Json> ToJson() const;

  std::vector<Entry> entries_;  // Never resized once CLI11 points into it.
  std::string input_json_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_
