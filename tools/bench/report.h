// How results are printed.
#ifndef ARMATURE_TOOLS_BENCH_REPORT_H_
#define ARMATURE_TOOLS_BENCH_REPORT_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/bench/comparison.h"
#include "tools/bench/options.h"

namespace armature::bench {

// Without the failures, which main tells on stderr.
void PrintText(std::ostream& out, const Comparison& comparison);

// One object with everything, all times in microseconds.
void PrintJson(std::ostream& out, const std::string& server_version, const Options& options,
               const std::vector<Comparison>& comparisons);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_REPORT_H_
