#ifndef ARMATURE_TESTS_UNIT_STORAGE_MODEL_TABLE_DEFINITION_CASES_H_
#define ARMATURE_TESTS_UNIT_STORAGE_MODEL_TABLE_DEFINITION_CASES_H_

// Valid definitions to start from, and the table-driven check of refused ones. Shared by the tests of table
// definitions.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/table_definition.h"

namespace armature::model {

inline constexpr std::string_view kInvalid = "One or more parameter values were invalid: ";

inline std::string OneViolation(std::string_view violation) { return Cat("1 validation error detected: ", violation); }

// "Value <printed> at '<path>' failed to satisfy constraint: Member must <rule>".
inline std::string Violation(std::string_view printed, std::string_view path, std::string_view rule) {
  return Cat("Value ", printed, " at '", path, "' failed to satisfy constraint: Member must ", rule);
}

inline std::string One(std::string_view printed, std::string_view path, std::string_view rule) {
  return OneViolation(Violation(printed, path, rule));
}

inline ProjectionDefinition All() { return {"ALL", std::nullopt}; }

inline ProjectionDefinition Include(int count, std::string_view prefix = "p") {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(Cat(prefix, i));
  return {"INCLUDE", names};
}

inline IndexDefinition Index(std::string_view name, std::vector<KeyElementDefinition> key) {
  IndexDefinition index;
  index.index_name = std::string(name);
  index.key_schema = std::move(key);
  index.projection = All();
  return index;
}

// A valid local index of ValidTable().
inline IndexDefinition Local(std::string_view name) { return Index(name, {{"a", "HASH"}, {"c", "RANGE"}}); }

// A valid global index of ValidTable().
inline IndexDefinition Global(std::string_view name) { return Index(name, {{"c", "HASH"}, {"a", "RANGE"}}); }

// `count` indexes with different names.
inline std::vector<IndexDefinition> Many(int count, const std::function<IndexDefinition(std::string)>& make) {
  std::vector<IndexDefinition> indexes;
  for (int i = 0; i < count; ++i) indexes.push_back(make(Cat("index", i)));
  return indexes;
}

// HASH a, RANGE b, and one index of each kind, so that the attribute definitions a, b and c are all used.
inline TableDefinition ValidTable() {
  TableDefinition table;
  table.table_name = "abc";
  table.attribute_definitions = {{"c", "N"}, {"b", "B"}, {"a", "S"}};
  table.key_schema = {{"a", "HASH"}, {"b", "RANGE"}};
  table.local_indexes = {Local("local")};
  table.global_indexes = {Global("global")};
  table.billing_mode = "PAY_PER_REQUEST";
  return table;
}

// ValidTable() without indexes.
inline TableDefinition PlainTable() {
  TableDefinition table = ValidTable();
  table.attribute_definitions = {{"a", "S"}, {"b", "B"}};
  table.local_indexes.reset();
  table.global_indexes.reset();
  return table;
}

inline TableDefinition ProvisionedTable() {
  TableDefinition table = ValidTable();
  table.billing_mode = "";
  table.provisioned = Throughput{5, 6};
  (*table.global_indexes)[0].provisioned = Throughput{7, 8};
  return table;
}

// A table with one global index, whose key attributes h0.. and r0.. are defined.
inline TableDefinition MultiKeyTable(std::vector<KeyElementDefinition> index_key) {
  TableDefinition table = PlainTable();
  for (const KeyElementDefinition& element : index_key) {
    bool known = false;
    for (const AttributeDefinition& attribute : table.attribute_definitions) {
      known = known || attribute.attribute_name == element.attribute_name;
    }
    if (!known) table.attribute_definitions.push_back({element.attribute_name, "S"});
  }
  table.global_indexes = {Index("multi", std::move(index_key))};
  return table;
}

inline std::vector<KeyElementDefinition> MultiKey(int hash_count, int range_count) {
  std::vector<KeyElementDefinition> key;
  for (int i = 0; i < hash_count; ++i) key.push_back({Cat("h", i), "HASH"});
  for (int i = 0; i < range_count; ++i) key.push_back({Cat("r", i), "RANGE"});
  return key;
}

struct RefusedCase {
  std::string what;
  std::function<void(TableDefinition&)> edit;  // changes ValidTable()
  std::string message;
};

inline void ExpectRefused(const std::vector<RefusedCase>& cases) {
  for (const RefusedCase& c : cases) {
    SCOPED_TRACE(c.what);
    TableDefinition definition = ValidTable();
    c.edit(definition);
    const absl::StatusOr<TableDescriptor> table = BuildTableDescriptor(definition);
    const std::optional<ApiError> error = GetApiError(table.status());
    if (!error.has_value()) {
      ADD_FAILURE() << "not an API error: " << table.status();
      continue;
    }
    EXPECT_EQ(error->type, ApiErrorType::kValidation);
    EXPECT_EQ(error->message, c.message);
  }
}

inline void ExpectAccepted(const TableDefinition& definition) {
  const absl::StatusOr<TableDescriptor> table = BuildTableDescriptor(definition);
  EXPECT_TRUE(table.ok()) << table.status();
}

inline IndexDefinition& FirstLocal(TableDefinition& t) { return (*t.local_indexes)[0]; }
inline IndexDefinition& FirstGlobal(TableDefinition& t) { return (*t.global_indexes)[0]; }

}  // namespace armature::model

#endif  // ARMATURE_TESTS_UNIT_STORAGE_MODEL_TABLE_DEFINITION_CASES_H_
