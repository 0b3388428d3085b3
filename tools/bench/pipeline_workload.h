// Puts over streams instead of calls.
#ifndef ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_
#define ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_

#include <string>

#include "tools/bench/load.h"
#include "tools/bench/options.h"

namespace armature::bench {

// PutItem of new keys through the client's Pipeline: a stream and a thread that asks for each of the connections, with
// the outstanding puts shared out among them. A run opens its streams and closes them again. Its connections are made
// here: throws std::runtime_error if one cannot be.
CallKind PipelineKind(const Options& options, const std::string& table);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_
