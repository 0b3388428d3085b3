#ifndef ARMATURE_TESTS_UNIT_ENGINE_RANDOM_TABLES_H_
#define ARMATURE_TESTS_UNIT_ENGINE_RANDOM_TABLES_H_

// Random tables, indexes on them, and items for them.
//
// Items have most of the attributes l1, l2, p1 to p4, r1 to r4, x and y. Each except x has a usual type, which a new
// index may change: earlier items are then unfit for the index. A few items are always unfit.

#include <map>
#include <string>
#include <vector>

#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/model_table.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// Names of attributes outside the table's key.
const std::vector<std::string>& AttributeNames();

// Lifetime: the values must outlive it.
class RandomTables {
 public:
  explicit RandomTables(RandomValues* values);

  // Key pk (S) and sk (N), two local and three global indexes, always the same.
  static ModelTable WithSortKey(const std::string& name);
  // Key id, of any type, and up to three global indexes.
  ModelTable WithoutSortKey(const std::string& name);
  // A global index with one to four partition and up to four sort attributes, and any projection.
  ModelKeyspace Index(const ModelTable& table, const std::string& name);

  ModelItem Key(const ModelTable& table);
  ModelItem Item(const ModelTable& table);

 private:
  Scalar AttributeValue(const std::map<std::string, char>& key_types, const std::string& name);
  std::vector<std::string> KeyPart(std::vector<std::string> names, size_t size, std::vector<std::string>* odd_ones);

  RandomValues* const values_;
  std::map<std::string, char> usual_types_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_RANDOM_TABLES_H_
