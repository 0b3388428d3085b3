#ifndef ARMATURE_STORAGE_CODEC_NUMBER_CODEC_H_
#define ARMATURE_STORAGE_CODEC_NUMBER_CODEC_H_

// Encodes numbers so that the memcmp order of the bytes is numeric order. docs/FORMAT.md, "Key components", specifies
// every byte.
//
// Thread-safety: free functions without state.

#include <string>
#include <string_view>

#include "storage/model/number.h"

namespace armature::codec {

// Appends `number` with its type code: 1 to 21 bytes. One number has one encoding.
void AppendNumber(const model::Number& number, std::string* out);

// Takes a number, including its type code, from the front of `in`. Returns false, with `in` unspecified, if the bytes
// are not an encoding made by AppendNumber.
[[nodiscard]] bool TakeNumber(std::string_view* in, model::Number* number);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_NUMBER_CODEC_H_
