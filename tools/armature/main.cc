// armature: the command line of the Armature database daemon. See `armature --help`.

#include <iostream>
#include <string>
#include <vector>

#include "glog/logging.h"
#include "storage/base/lock_checks.h"
#include "storage/base/standard_files.h"
#include "tools/armature/command.h"

int main(int argc, char** argv) {
  if (!armature::KeepStandardFiles()) return 1;
  armature::SkipLockChecks();
  // Commands without a daemon run its storage engine. They tell their findings themselves, and log lines would disturb
  // the output.
  FLAGS_minloglevel = google::GLOG_FATAL;
  return armature::cli::RunCli(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
