#ifndef ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_
#define ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_

// Reads a file of cases. README.md of this folder describes the format for those who write them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::conformance {

using cli::Json;

// What the answer to a step must be.
struct Expectation {
  enum class Kind {
    kSuccess,  // Any answer that is no error.
    kExact,    // "=> {...}": this answer.
    kPartial,  // "=~ {...}": an answer that holds this.
    kError,    // "=> SomeException ..."
  };
  Kind kind = Kind::kSuccess;
  Json answer;                          // kExact, kPartial.
  std::string error_type;               // kError.
  std::optional<std::string> text;      // kError: absent if any text will do.
  bool text_is_part = false;            // kError: the message must contain `text`, not be it.
  Json error_members = Json::object();  // kError: what the error carries beside type and text.
};

// One request.
struct Step {
  int line = 0;
  std::string operation;
  std::string request_text;  // For a protocol that takes the JSON as it stands.
  Json request;
  Expectation expectation;
};

struct Case {
  std::string name;
  int line = 0;
  std::string pending;            // What is missing for this case to pass; empty: it must pass.
  std::vector<std::string> only;  // Backends that can express it; empty: all.
  std::vector<Step> steps;
};

struct CaseFile {
  std::string path;
  std::vector<Step> setup;
  std::vector<Case> cases;
};

// Errors: InvalidArgument that begins with "<path>:<line>: ".
absl::StatusOr<CaseFile> ParseCaseFile(std::string path, std::string_view text);
absl::StatusOr<CaseFile> ReadCaseFile(const std::string& path);

// Replaces <<x*3>> by xxx, and <<1..3|, |v$>> by v1, v2, v3.
// Errors: InvalidArgument if what stands between << and >> is neither.
absl::StatusOr<std::string> ExpandRepeats(std::string_view text);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_
