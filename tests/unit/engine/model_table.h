#ifndef ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_
#define ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_

// A table with its indexes and rows in a simple form: indexes are computed from all rows.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine {

class ModelTable {
 public:
  // `keyspaces`: the table, its local indexes, its global indexes.
  ModelTable(std::string name, std::vector<ModelKeyspace> keyspaces);

  const std::string& name() const { return name_; }
  const std::vector<ModelKeyspace>& keyspaces() const { return keyspaces_; }
  const std::map<Tuple, ModelItem>& rows() const { return rows_; }
  const ModelKeyspace& Find(const std::string& index_name) const;
  std::vector<std::string> GlobalIndexNames() const;

  // Key attributes of the table, partition attributes first.
  std::vector<std::string> KeyNames() const;
  // Types of all key attributes.
  std::map<std::string, char> KeyTypes() const;

  // The row with the key of `item`, which may have more attributes.
  std::optional<ModelItem> Row(const ModelItem& item) const;
  // Sets a row. `now` is nullopt if the row is deleted.
  void SetRow(const ModelItem& key, const std::optional<ModelItem>& now);
  std::vector<ModelItem> EntriesOf(const ModelKeyspace& keyspace) const;

  void AddIndex(ModelKeyspace index) { keyspaces_.push_back(std::move(index)); }
  void SetFilled(const std::string& index_name);
  void DropIndex(const std::string& index_name);

  // Requests that create the table, create an index, and delete an index.
  model::TableDefinition Definition() const;
  model::TableUpdate Creation(const std::string& index_name) const;
  model::TableUpdate Deletion(const std::string& index_name) const;

  // The error texts that are allowed for a put. Empty if the put must succeed. Each text concerns the first index, by
  // name, that refuses.
  std::set<std::string> RefusalsOfPut(const ModelItem& item) const;
  // The refusals of an update that sets attributes to `constants`, whatever the row is.
  std::set<std::string> RefusalsOfConstants(const ModelItem& constants) const;
  // The refusals of an update whose result is `now`. `set` lists the attributes that it set, or all if it created the
  // row.
  std::set<std::string> RefusalsOfUpdate(const std::set<std::string>& set, const ModelItem& now) const;

  uint64_t last_sequence = 0;  // of the last write

 private:
  // Calls `texts_of` with an index.
  template <class Fn>
  std::set<std::string> FirstRefusals(Fn texts_of) const;

  std::string name_;
  std::vector<ModelKeyspace> keyspaces_;
  std::map<Tuple, ModelItem> rows_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_
