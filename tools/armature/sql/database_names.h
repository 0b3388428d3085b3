#ifndef ARMATURE_TOOLS_ARMATURE_SQL_DATABASE_NAMES_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_DATABASE_NAMES_H_

// The names of a daemon's tables, indexes and attributes, for completion.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "armature/client/client.h"
#include "tools/armature/sql/completion.h"

namespace armature::cli {

// Asks when a name is needed, waits at most for its patience, and remembers the answer for ten seconds, an error too.
// Attributes are those of keys and indexes, and of the first items of the table.
//
// Not thread-safe.
class DatabaseNames final : public SqlNames {
 public:
  explicit DatabaseNames(client::Client client, absl::Duration patience = absl::Seconds(2))
      : client_(std::move(client)), patience_(patience) {}

  std::vector<std::string> Tables() override;
  std::vector<std::string> Indexes(const std::string& table) override;
  std::vector<std::string> Attributes(const std::string& table) override;

 private:
  using Names = std::vector<std::string>;
  struct Known {
    absl::Time until;
    Names names;
  };
  // `kind` and `table` are the key under which the names are kept.
  Names Remember(char kind, const std::string& table, Names (DatabaseNames::*ask)(const std::string& table) const);
  Names AskTables(const std::string& table) const;
  Names AskIndexes(const std::string& table) const;
  Names AskAttributes(const std::string& table) const;

  // For a call that is part of an answer.
  client::CallOptions Quick() const;

  const client::Client client_;
  const absl::Duration patience_;
  absl::Time give_up_;  // when the present answer must be there
  std::map<std::pair<char, std::string>, Known> known_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_DATABASE_NAMES_H_
