#ifndef ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_
#define ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_

// A table with its indexes and rows, kept the slow and obvious way: indexes are what is computed from all rows.

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
  // `keyspaces`: the table, then its local indexes, then global ones.
  ModelTable(std::string name, std::vector<ModelKeyspace> keyspaces);

  const std::string& name() const { return name_; }
  const std::vector<ModelKeyspace>& keyspaces() const { return keyspaces_; }
  const std::map<Tuple, ModelItem>& rows() const { return rows_; }
  const ModelKeyspace& Find(const std::string& index_name) const;
  std::vector<std::string> GlobalIndexNames() const;

  // Attributes of the table's key, those of the partition first.
  std::vector<std::string> KeyNames() const;
  // Types that are spoken for: of attributes in any key.
  std::map<std::string, char> KeyTypes() const;

  // The row with the key of `item`, which may have more attributes.
  std::optional<ModelItem> Row(const ModelItem& item) const;
  // `now`: nothing if there is no such row any more.
  void SetRow(const ModelItem& key, const std::optional<ModelItem>& now);
  std::vector<ModelItem> EntriesOf(const ModelKeyspace& keyspace) const;

  void AddIndex(ModelKeyspace index) { keyspaces_.push_back(std::move(index)); }
  void SetFilled(const std::string& index_name);
  void DropIndex(const std::string& index_name);

  // What makes the table; an index of it; and what takes one away.
  model::TableDefinition Definition() const;
  model::TableUpdate Creation(const std::string& index_name) const;
  model::TableUpdate Deletion(const std::string& index_name) const;

  // Texts of errors, any of which may be the answer; none of them: the write is accepted. Each is about the index that
  // is the first by name of those that refuse.
  std::set<std::string> RefusalsOfPut(const ModelItem& item) const;
  // Of an update that sets attributes to `constants`: refused whatever the row is.
  std::set<std::string> RefusalsOfConstants(const ModelItem& constants) const;
  // Of an update that has set the attributes `set` (all, if it made the row) and so has made `now`.
  std::set<std::string> RefusalsOfUpdate(const std::set<std::string>& set, const ModelItem& now) const;

  uint64_t last_sequence = 0;  // of the last write

 private:
  // `texts_of` gets an index.
  template <class Fn>
  std::set<std::string> FirstRefusals(Fn texts_of) const;

  std::string name_;
  std::vector<ModelKeyspace> keyspaces_;
  std::map<Tuple, ModelItem> rows_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_MODEL_TABLE_H_
