#ifndef ARMATURE_TESTS_UNIT_ENGINE_MODEL_WRITER_H_
#define ARMATURE_TESTS_UNIT_ENGINE_MODEL_WRITER_H_

// Random writes, and what their answers must be.

#include <set>
#include <string>
#include <string_view>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/model_table.h"
#include "tests/unit/engine/random_tables.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// Writes to the engine and to the model, and holds each answer against the model as it was: returned attributes,
// consumed capacity, or the error. Failures are fatal ones of GoogleTest.
//
// Lifetime: all arguments outlive it.
class ModelWriter {
 public:
  ModelWriter(TestEngine* engine, RandomValues* values, RandomTables* tables)
      : engine_(engine), values_(values), tables_(tables) {}

  // `counts`: false if what is consumed cannot be known, so that it is not asked for.
  void WriteOnce(ModelTable* table, bool counts = true);

  size_t refused() const { return refused_; }

 private:
  // What must come of a write.
  struct Expected {
    std::set<std::string> refusals;       // whatever the row is
    bool conditional = false;             // fails if there is a row
    std::set<std::string> late_refusals;  // of what would become of the row
    std::optional<ModelItem> now;
    ModelItem returned;
  };

  void PutOrDelete(ModelTable* table, bool put, bool counts);
  void Update(ModelTable* table, bool counts);
  // Asks for the consumed capacity in some way.
  void AskForCapacity(bool counts, WriteRequest* request);
  // Sometimes with the condition that there is no item.
  bool MaybeMakeConditional(WriteRequest* request);
  void CheckAnswer(const absl::StatusOr<WriteResult>& result, const WriteRequest& request, const ModelItem& key,
                   const Expected& expected, ModelTable* table);
  void CheckRefusal(const absl::Status& status, const std::set<std::string>& texts);

  TestEngine* const engine_;
  RandomValues* const values_;
  RandomTables* const tables_;
  size_t refused_ = 0;  // writes with attributes that are unfit for an index
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_MODEL_WRITER_H_
