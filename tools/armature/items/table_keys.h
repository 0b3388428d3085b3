#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_TABLE_KEYS_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_TABLE_KEYS_H_

// Keys of tables and indexes, and key values as people type them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/api/v1/types.pb.h"
#include "armature/client/client.h"

namespace armature::cli {

// Table and index that a command reads or writes.
struct ItemTarget {
  std::string table;  // name or ARN
  std::string index;  // empty: the table itself
};

// Parses TABLE, TABLE/INDEX, or the ARN of either. Errors: UsageError if one of the names is empty.
absl::StatusOr<ItemTarget> ParseTarget(const std::string& text);

struct KeyAttribute {
  std::string name;
  api::v1::ScalarAttributeType type = api::v1::SCALAR_ATTRIBUTE_TYPE_UNSPECIFIED;
  bool is_partition = false;  // part of the partition key
};

// The key that a command uses: of the table, or of one of its indexes.
struct TargetKey {
  std::string name;  // "orders", or "orders/by_status", for messages
  std::vector<KeyAttribute> attributes;

  const KeyAttribute* Find(std::string_view attribute) const;
  // "orders has the key customer (S), date (N)".
  std::string Describe() const;
};

// Keys of a target, from the description of its table.
struct TargetKeys {
  TargetKey table;
  TargetKey target;        // of the index, or the same as `table`
  int64_t item_count = 0;  // of the target, when it was described

  // Names of the key attributes of target and table, each once.
  std::vector<std::string> Names() const;
};

// Errors: those of DescribeTable; UsageError for an index that the table lacks.
absl::StatusOr<TargetKeys> FindKeys(const client::Client& client, const ItemTarget& target);

// The value of a key attribute from its text: S takes it as it is, N as a number, B in base64. Errors: UsageError that
// names the attribute, its type and the key.
absl::StatusOr<api::v1::AttributeValue> KeyValueFromText(const TargetKey& key, const KeyAttribute& attribute,
                                                         std::string_view text);

// The key of an item, from one text for each key attribute in the order of the key; or as NAME=VALUE in any order if
// all texts begin with the name of a key attribute and "="; or as plain JSON, if the only text begins with {. Errors:
// UsageError.
absl::StatusOr<api::v1::Item> KeyFromTexts(const TargetKey& key, const std::vector<std::string>& texts);

// "order_id = KSUID9 in orders".
std::string ShowKey(const TargetKey& key, const api::v1::Item& item);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_TABLE_KEYS_H_
