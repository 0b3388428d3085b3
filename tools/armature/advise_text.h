#ifndef ARMATURE_TOOLS_ARMATURE_ADVISE_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_ADVISE_TEXT_H_

// Prints the advice of the index advisor for people.

#include <string>

#include "tools/advise/advice.h"

namespace armature::cli {

// Tables first, then a paragraph for each choice. Every line ends with a line break.
std::string AdviceText(const advise::Advice& advice);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ADVISE_TEXT_H_
