// Prints the results.
#ifndef ARMATURE_TOOLS_BENCH_REPORT_H_
#define ARMATURE_TOOLS_BENCH_REPORT_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/bench/comparison.h"
#include "tools/bench/options.h"

namespace armature::bench {

// Prints a comparison without its failures, which main prints on stderr.
void PrintText(std::ostream& out, const Comparison& comparison);

// Prints one JSON object with all results. Times are in microseconds.
void PrintJson(std::ostream& out, const std::string& server_version, const Options& options,
               const std::vector<Comparison>& comparisons);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_REPORT_H_
