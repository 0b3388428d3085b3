#ifndef ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_
#define ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_

// Words that must not be used as a bare attribute name in an expression.

#include <string_view>

namespace armature::expr {

// Case-insensitive.
// Source: the DynamoDB developer guide, "Reserved words in DynamoDB".
bool IsReservedWord(std::string_view word);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_
