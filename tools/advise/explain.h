#ifndef ARMATURE_TOOLS_ADVISE_EXPLAIN_H_
#define ARMATURE_TOOLS_ADVISE_EXPLAIN_H_

// Writes the texts of the advice.

#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/plan.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// Text such as "1,234" or "0.25", with four significant digits below 1,000.
std::string NumberText(double number);

// Text such as "1.2 GB", with units of powers of 1024.
std::string BytesText(double bytes);

// Text such as "20 write units and 3,100 read units a second", and the limits of one partition, "1,000 and 3,000".
std::string HeatText(const Heat& heat);
std::string PartitionLimitsText();

// The key condition and the filter, with a question mark for each value.
std::string ConditionText(const Table& table, const Key& key, const Pattern& pattern, const KeyNeed& need);
std::string FilterText(const Table& table, const Pattern& pattern, const KeyNeed& need);

// The reasons for the key of the table.
std::vector<Reason> TableReasons(const Workload& workload, const Plan& plan);

// The reasons for the design of the index. `advice` is complete except for its reasons.
std::vector<Reason> IndexReasons(const Workload& workload, const Plan& plan, const IndexDesign& design,
                                 const IndexAdvice& advice);

// Describes how the pattern is answered, and its unmet demands. `advice` is complete except for its reason.
std::string PatternReason(const Workload& workload, const Plan& plan, size_t pattern, const PatternAdvice& advice);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_EXPLAIN_H_
