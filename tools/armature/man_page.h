#ifndef ARMATURE_TOOLS_ARMATURE_MAN_PAGE_H_
#define ARMATURE_TOOLS_ARMATURE_MAN_PAGE_H_

// The manual of the tool in the form that man(1) reads.

#include <string>
#include <vector>

#include "tools/armature/cli_tree.h"

namespace armature::cli {

std::string ManPage(const std::vector<TreeCommand>& commands);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_MAN_PAGE_H_
