// Lexer and parser of all kinds of expressions. Input: a letter for the kind (u, c, k, f, p), then the text.

#include <string_view>
#include <vector>

#include "engine/expr/lexer.h"
#include "engine/expr/parser.h"
#include "storage/base/api_error.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

void CheckTokens(std::string_view text, const std::vector<expr::Token>& tokens) {
  Check(!tokens.empty() && tokens.back().kind == expr::TokenKind::kEnd, "the last token is the end");
  size_t end = 0;
  for (const expr::Token& token : tokens) {
    Check(token.position >= end, "tokens go forward");
    Check(token.text == text.substr(token.position, token.text.size()), "a token stands where it says");
    Check(token.kind == expr::TokenKind::kEnd || !token.text.empty(), "a token has a text");
    end = token.position + token.text.size();
  }
}

absl::Status Parse(expr::ExpressionKind kind, std::string_view text) {
  expr::FaultLog faults;
  if (kind == expr::ExpressionKind::kUpdate) return expr::ParseUpdate(text, &faults).status();
  if (kind == expr::ExpressionKind::kProjection) return expr::ParseProjection(text, &faults).status();
  return expr::ParseCondition(kind, text, &faults).status();
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = armature::fuzz::Text(data, size);
  const auto kind = armature::fuzz::KindOf(input[0]);
  if (!kind.has_value()) return 0;
  const std::string_view text = input.substr(1);
  armature::fuzz::CheckTokens(text, armature::expr::Tokenize(*kind, text));
  const absl::Status status = armature::fuzz::Parse(*kind, text);
  if (!status.ok()) {
    const auto error = armature::GetApiError(status);
    armature::fuzz::Check(error.has_value() && error->type == armature::ApiErrorType::kValidation,
                          "what is refused is a ValidationException");
  }
  return 0;
}
