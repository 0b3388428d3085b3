#ifndef ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_
#define ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_

// DescribeLimits, DescribeEndpoints: answers for programs that ask for them. Nothing depends on them.

#include <cstdint>

namespace armature::engine {

// Capacity units per second.
struct AccountLimits {
  int64_t account_read_units_max = 80'000;
  int64_t account_write_units_max = 80'000;
  int64_t table_read_units_max = 40'000;
  int64_t table_write_units_max = 40'000;
};

// Minutes for which clients may cache the address from DescribeEndpoints.
inline constexpr int64_t kEndpointCacheMinutes = 1440;

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_
