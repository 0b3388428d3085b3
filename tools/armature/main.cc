// armature: the command line of the Armature database daemon. See `armature --help`.

#include <iostream>
#include <string>
#include <vector>

#include "storage/base/lock_checks.h"
#include "tools/armature/command.h"

int main(int argc, char** argv) {
  armature::SkipLockChecks();
  return armature::cli::RunCli(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
