#ifndef ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_
#define ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_

// DescribeLimits, DescribeEndpoints: answers for programs that ask. Nothing here depends on them.

#include <cstdint>

namespace armature::engine {

// Capacity units per second.
struct AccountLimits {
  int64_t account_read_units_max = 80'000;
  int64_t account_write_units_max = 80'000;
  int64_t table_read_units_max = 40'000;
  int64_t table_write_units_max = 40'000;
};

// How long a client may keep the address that DescribeEndpoints answers.
inline constexpr int64_t kEndpointCacheMinutes = 1440;

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_ACCOUNT_LIMITS_H_
