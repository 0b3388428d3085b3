// armature: the command line of the Armature database daemon. See `armature --help`.

#include <iostream>
#include <string>
#include <vector>

#include "tools/armature/command.h"

int main(int argc, char** argv) {
  return armature::cli::RunCli(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
