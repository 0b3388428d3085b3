#ifndef ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_
#define ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_

// Reads a file of cases. The README of this folder describes the format.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::conformance {

using cli::Json;

// The expected answer of a step.
struct Expectation {
  enum class Kind {
    kSuccess,  // any answer without an error
    kExact,    // "=> {...}": exactly this answer
    kPartial,  // "=~ {...}": an answer that contains this
    kError,    // "=> SomeException ..."
  };
  Kind kind = Kind::kSuccess;
  Json answer;                          // kExact, kPartial
  std::string error_type;               // kError
  std::optional<std::string> text;      // kError: absent if any text is right
  bool text_is_part = false;            // kError: `text` is a part of the message
  Json error_members = Json::object();  // kError: members of the error besides type and text
};

// One request.
struct Step {
  int line = 0;
  std::string operation;
  std::string request_text;  // for protocols that take JSON as it is
  Json request;
  Expectation expectation;
};

struct Case {
  std::string name;
  int line = 0;
  std::string pending;            // the missing feature; empty: the case must pass
  std::vector<std::string> only;  // backends that can express the case; empty: all
  std::vector<Step> steps;
};

struct CaseFile {
  std::string path;
  std::vector<Step> setup;
  std::vector<Case> cases;
};

// Errors: InvalidArgument with the prefix "<path>:<line>: ".
absl::StatusOr<CaseFile> ParseCaseFile(std::string path, std::string_view text);
absl::StatusOr<CaseFile> ReadCaseFile(const std::string& path);

// Replaces <<x*3>> by xxx, and <<1..3|, |v$>> by v1, v2, v3.
// Errors: InvalidArgument if the text between << and >> has neither form.
absl::StatusOr<std::string> ExpandRepeats(std::string_view text);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_CASE_FILE_H_
