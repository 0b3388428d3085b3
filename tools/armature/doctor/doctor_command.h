#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_DOCTOR_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_DOCTOR_COMMAND_H_

// `doctor`: what will bite a daemon on this machine.

#include "tools/armature/command.h"

namespace armature::cli {

void AddDoctorCommand(CLI::App& app, Action* action);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_DOCTOR_COMMAND_H_
