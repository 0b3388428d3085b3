#ifndef ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_
#define ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_

// Builds a request from the options of a command.
//
// The option --key-condition-expression sets the field key_condition_expression of the request, and so on for all
// options. The type of the field decides the form of the option:
//   string, enum      text
//   integer           number
//   bool              a flag: --x for true, --no-x for false
//   flat message      Name=value,..., JSON, or @file; "flat" means that all its fields are scalars
//   other message     JSON or @file
// The option of a repeated field may be given more than once. --cli-input-json holds a whole request in its documented
// form; single options override its members.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli {

enum class Presence { kOptional, kRequired };

struct OptionSpec {
  const char* name;  // with its dashes; names a field of the request
  const char* help;
  Presence presence = Presence::kOptional;
};

inline constexpr OptionSpec kTableNameOption{"--table-name", "Name or ARN of the table", Presence::kRequired};

// Lifetime: must outlive the parser and the action of the command. Not thread-safe.
class RequestOptions {
 public:
  // Adds the options, and --cli-input-json, to `command`. Precondition: `request` has a field for each option.
  RequestOptions(CLI::App& command, const google::protobuf::Descriptor& request, const std::vector<OptionSpec>& specs);

  RequestOptions(const RequestOptions&) = delete;
  RequestOptions& operator=(const RequestOptions&) = delete;

  // The request of the parsed command line. Request: the type of the constructor's descriptor. Errors: UsageError.
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
    const google::protobuf::FieldDescriptor* field = nullptr;
    CLI::Option* option = nullptr;
    std::vector<std::string> texts{};
    int64_t integer = 0;
    bool flag = false;
  };

  static void AddOption(CLI::App& command, Entry* entry);
  static absl::StatusOr<Json> ValueOf(const Entry& entry);
  absl::StatusOr<Json> ToJson() const;

  std::vector<Entry> entries_;  // CLI11 holds pointers into it: not resized after the constructor
  std::string input_json_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_REQUEST_OPTIONS_H_
