#ifndef ARMATURE_ENGINE_TABLES_HOT_KEYS_H_
#define ARMATURE_ENGINE_TABLES_HOT_KEYS_H_

// The keys that are read, written or throttled most, of tables and global indexes with contributor insights.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/model/key_schema.h"
#include "storage/store/catalog/key_traffic.h"

namespace armature::engine {

struct Parts;

struct HotKeysRequest {
  std::string table_name;  // name or ARN
  std::string index_name;  // a global index; empty: the table itself
  store::KeyUse use = store::KeyUse::kRead;
  bool whole_keys = false;
  int64_t limit = 0;    // 0: kHotKeysDefault
  int64_t minutes = 0;  // 0: kHotKeyMinutesDefault
};

inline constexpr int64_t kHotKeysDefault = 10;
inline constexpr int64_t kHotKeysMax = 100;
inline constexpr int64_t kHotKeyMinutesDefault = 10;

// Counts are capacity units, or throttled requests. See TopKeys for `error`.
struct HotKey {
  std::string key_bytes;  // canonical item bytes
  double count = 0;
  double error = 0;
  bool cut = false;  // the key is longer: its last attribute may be cut, others may be missing
};

struct HotKeys {
  std::vector<HotKey> keys;  // largest count first
  double total = 0;
  double missed = 0;
  double error_max = 0;  // largest true count of a key that was not counted
  int64_t seconds = 0;
  bool keys_are_whole = false;
};

// Errors: ValidationException, also without contributor insights, or if their mode excludes the use;
// ResourceNotFoundException.
absl::StatusOr<HotKeys> FindHotKeys(const Parts& parts, const HotKeysRequest& request);

// Share of the most used partition key in the last ten minutes, at least: 0 to 1.
struct HotKeyShare {
  std::string table_name;
  std::string index_name;  // empty: the table itself
  store::KeyUse use = store::KeyUse::kRead;
  double share = 0;
};

// The shares of all tables and indexes with contributor insights, for all uses that they count.
std::vector<HotKeyShare> HotKeySharesOf(const Parts& parts);

// The attributes at the front of an encoded key that ends anywhere, as canonical item bytes. The last one may be cut; a
// number that is cut is left out. Bytes that are no key give fewer attributes.
std::string DecodeCutKey(const std::vector<model::KeyAttribute>& attributes, std::string_view front);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_HOT_KEYS_H_
