#ifndef ARMATURE_TESTS_UNIT_ENGINE_MODEL_WRITER_H_
#define ARMATURE_TESTS_UNIT_ENGINE_MODEL_WRITER_H_

// Random writes with their expected answers.

#include <set>
#include <string>
#include <string_view>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/model_table.h"
#include "tests/unit/engine/random_tables.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// Writes to the engine and to the model. Compares each answer with the model: returned attributes, consumed capacity,
// or the error. Failures are fatal GoogleTest failures.
//
// Lifetime: all arguments outlive it.
class ModelWriter {
 public:
  ModelWriter(TestEngine* engine, RandomValues* values, RandomTables* tables)
      : engine_(engine), values_(values), tables_(tables) {}

  // `counts` is false if the consumed capacity is unpredictable; then it is not requested.
  void WriteOnce(ModelTable* table, bool counts = true);

  size_t refused() const { return refused_; }

 private:
  // The expected outcome of a write.
  struct Expected {
    std::set<std::string> refusals;       // independent of the row
    bool conditional = false;             // fails if there is a row
    std::set<std::string> late_refusals;  // depend on the resulting row
    std::optional<ModelItem> now;
    ModelItem returned;
  };

  void PutOrDelete(ModelTable* table, bool put, bool counts);
  void Update(ModelTable* table, bool counts);
  // Requests the consumed capacity in a random mode.
  void AskForCapacity(bool counts, WriteRequest* request);
  // Sometimes adds the condition that there is no item.
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
