#ifndef ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_
#define ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_

// Words that may not stand in an expression as a bare attribute name.

#include <string_view>

namespace armature::expr {

// Compares without regard to case.
// Source: the DynamoDB developer guide, "Reserved words in DynamoDB".
bool IsReservedWord(std::string_view word);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_RESERVED_WORDS_H_
