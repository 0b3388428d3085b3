#ifndef ARMATURE_TOOLS_BENCH_RESULT_FILE_H_
#define ARMATURE_TOOLS_BENCH_RESULT_FILE_H_

// Results as text and as JSON, and the comparison of files of results.

#include <ostream>
#include <string>
#include <vector>

#include "armature/client/client.h"
#include "tools/bench/comparison.h"

namespace armature::bench {

// Prints a comparison without its failures, which main prints on stderr.
void PrintText(std::ostream& out, const Comparison& comparison, double seconds);

// One JSON object with all results: machine, versions, command line of the daemon if it runs here, flags, rounds,
// quantiles, and the buckets of the latencies. Times are in microseconds.
std::string ResultJson(const admin::v1::GetServerInfoResponse& server, const Options& options,
                       const std::vector<Comparison>& comparisons);

// Compares two lists of files of results, workload by workload, and prints the ratio of the medians of each figure with
// its bounds: from the smallest new over the largest old value of a round to the largest new over the smallest old one.
// If 1 is within the bounds, the line says "no difference". Throws std::runtime_error for files that are no results or
// have no workload in common.
void CompareFiles(std::ostream& out, const std::vector<std::string>& old_files,
                  const std::vector<std::string>& new_files);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_RESULT_FILE_H_
