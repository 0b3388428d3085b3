// Lexer and parser of PartiQL statements. Input: the statement.

#include <string>
#include <string_view>
#include <vector>

#include "engine/partiql/parser.h"
#include "storage/base/api_error.h"
#include "tests/fuzz/fuzz_util.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = armature::fuzz::Text(data, size);
  // Two texts, so that statements with parameters are reached.
  const std::vector<std::string> parameters = {std::string("\x0a\x01x", 3), std::string("\x0a\x01y", 3)};
  for (const std::vector<std::string>& given : {std::vector<std::string>(), parameters}) {
    const auto parsed = armature::engine::partiql::ParseStatement(text, given);
    if (parsed.ok()) {
      armature::fuzz::Check(!parsed->table.empty(), "a statement has a table");
      continue;
    }
    const auto error = armature::GetApiError(parsed.status());
    armature::fuzz::Check(error.has_value(), "what is refused is an API error");
  }
  return 0;
}
