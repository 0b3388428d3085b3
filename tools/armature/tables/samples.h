#ifndef ARMATURE_TOOLS_ARMATURE_TABLES_SAMPLES_H_
#define ARMATURE_TOOLS_ARMATURE_TABLES_SAMPLES_H_

// The sample tables of tools/demo, compiled into the program: the build makes the source of Samples from these files.

#include <string_view>
#include <vector>

namespace armature::cli {

// The texts live as long as the program.
struct Sample {
  std::string_view definition;  // a CreateTable request, as JSON
  std::string_view items;       // JSON lines
};

// Sorted by the names of the files.
std::vector<Sample> Samples();

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLES_SAMPLES_H_
