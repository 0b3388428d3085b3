#ifndef ARMATURE_TOOLS_ARMATURE_SQL_TABLE_STATEMENT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_TABLE_STATEMENT_H_

// Statements about tables:
//
//   SHOW TABLES | SHOW INDEXES OF table | SHOW CREATE TABLE table | DESCRIBE table
//   CREATE TABLE [IF NOT EXISTS] table (attribute type [PRIMARY KEY], ..., [PRIMARY KEY (partition [, sort])])
//     [, index] ... [WITH (setting, ...)]
//   ALTER TABLE table ADD index | DROP INDEX name | SET (setting, ...)
//   DROP TABLE [IF EXISTS] table
//
//   index: [GLOBAL] INDEX name (key) [PROJECT ALL|KEYS|(attribute, ...)] [CAPACITY (reads, writes)]
//        | LOCAL INDEX name (key) [PROJECT ...]
//   key: attribute [type], ... [| attribute [type], ...]   partition attributes | sort attributes
//   setting: stream = OFF|KEYS_ONLY|NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES   ttl = attribute|OFF
//          | capacity = (reads, writes)|ON_DEMAND   protected = TRUE|FALSE   class = STANDARD|INFREQUENT_ACCESS
//
// The types are S, N and B. A key of two attributes without | is one partition and one sort attribute.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

struct KeyPart {
  std::string attribute;
  char type = 0;  // S, N, B, or 0 if it is declared elsewhere
  TextPlace place;
};

struct TableCapacity {
  int64_t reads = 0;  // units per second
  int64_t writes = 0;
};

struct IndexDefinition {
  bool is_local = false;
  std::string name;
  std::vector<KeyPart> partition;
  std::vector<KeyPart> sort;
  api::v1::ProjectionType projection = api::v1::PROJECTION_TYPE_ALL;
  std::vector<std::string> projected;  // with PROJECTION_TYPE_INCLUDE
  std::optional<TableCapacity> capacity;
  TextPlace place;
};

struct TableSettingsGiven {
  // Unset: not given. STREAM_VIEW_TYPE_UNSPECIFIED: OFF.
  std::optional<api::v1::StreamViewType> stream;
  std::optional<std::string> ttl;  // empty: OFF
  std::optional<api::v1::BillingMode> billing;
  TableCapacity capacity;  // with BILLING_MODE_PROVISIONED
  std::optional<bool> is_protected;
  std::optional<api::v1::TableClass> table_class;

  bool empty() const { return !stream && !ttl && !billing && !is_protected && !table_class; }
};

struct TableStatement {
  enum class Kind : uint8_t {
    kShowTables,
    kShowIndexes,
    kShowCreate,
    kDescribe,
    kCreate,
    kAddIndex,
    kDropIndex,
    kSet,
    kDrop,
  };
  Kind kind = Kind::kShowTables;
  std::string table;
  bool is_tolerant = false;              // IF [NOT] EXISTS
  std::vector<KeyPart> attributes;       // of CREATE, with their types
  std::vector<KeyPart> key;              // of CREATE: partition and sort attribute
  std::vector<IndexDefinition> indexes;  // of CREATE and ADD INDEX
  std::string index;                     // of DROP INDEX
  TableSettingsGiven settings;           // of CREATE and SET
};

// True if the statement begins like one of these.
bool IsTableStatement(const SqlTokenReader& tokens);

// Errors: SqlError. Cost: linear; no recursion.
absl::StatusOr<TableStatement> ParseTableStatement(const std::vector<SqlToken>& tokens);

// The request of CREATE TABLE. Errors: SqlError for keys that no table has.
absl::StatusOr<api::v1::CreateTableRequest> CreateRequestOf(const TableStatement& statement);

// The request of ADD INDEX, for a table that has these definitions. Errors: SqlError for an attribute whose type is
// neither given nor defined.
absl::StatusOr<api::v1::UpdateTableRequest> AddIndexRequestOf(const TableStatement& statement,
                                                              const api::v1::TableDescription& table);

// A CREATE TABLE that makes the table again, with its settings; without tags, policies, encryption, and limits of
// on-demand throughput. `ttl`: the attribute, or an empty text.
std::string CreateTextOf(const api::v1::TableDescription& table, const std::string& ttl);

// The word of a stream's view type in WITH, such as NEW_IMAGE, and of a scalar type.
std::string_view StreamWord(api::v1::StreamViewType type);
std::string_view ScalarWord(api::v1::ScalarAttributeType type);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_TABLE_STATEMENT_H_
