#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_FINDING_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_FINDING_H_

// Result of a check of `armature doctor`.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace armature::cli {

enum class FindingState : uint8_t { kOk, kWarn, kFail };

struct Finding {
  std::string check;  // "disk"
  FindingState state = FindingState::kOk;
  std::string text;    // what is so
  std::string remedy;  // what to do; empty if it is ok
};

using Findings = std::vector<Finding>;

inline Finding Fine(std::string check, std::string text) {
  return {std::move(check), FindingState::kOk, std::move(text), ""};
}

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_FINDING_H_
