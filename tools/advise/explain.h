#ifndef ARMATURE_TOOLS_ADVISE_EXPLAIN_H_
#define ARMATURE_TOOLS_ADVISE_EXPLAIN_H_

// The sentences of the advice.

#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/plan.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// "1,234" or "0.25"; at most three significant digits behind the point.
std::string NumberText(double number);

// "1.2 GB", by powers of 1024.
std::string BytesText(double bytes);

// A question mark stands for each value.
std::string ConditionText(const Table& table, const Key& key, const Pattern& pattern, const KeyNeed& need);
std::string FilterText(const Table& table, const Pattern& pattern, const KeyNeed& need);

// Why the table has its key.
std::vector<Reason> TableReasons(const Workload& workload, const Plan& plan);

// Why the index is as it is. `advice` has all but its reasons.
std::vector<Reason> IndexReasons(const Workload& workload, const Plan& plan, const IndexDesign& design,
                                 const IndexAdvice& advice);

// How the pattern is answered, and what is not as it asks. `advice` has all but its reason.
std::string PatternReason(const Workload& workload, const Plan& plan, size_t pattern, const PatternAdvice& advice);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_EXPLAIN_H_
