#ifndef ARMATURE_TESTS_UNIT_ENGINE_MODEL_READER_H_
#define ARMATURE_TESTS_UNIT_ENGINE_MODEL_READER_H_

// Random reads, checked against the model.

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/model_table.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// Reads from the engine and compares items, their order, pages, totals and consumed capacity with the model. Failures
// are reported to GoogleTest.
//
// Lifetime: all arguments outlive it.
class ModelReader {
 public:
  ModelReader(TestEngine* engine, RandomValues* values) : engine_(engine), values_(values) {}

  // Compares a whole table: scans, `queries` queries of each keyspace, each row by its key, totals.
  void CompareAll(const ModelTable& table, int queries);
  // Compares some queries of one keyspace.
  void CompareSome(const ModelTable& table, int queries);
  // Compares the row with this key, or its absence.
  void CompareRow(const ModelTable& table, const ModelItem& key);
  void CompareTotals(const ModelTable& table);

  size_t queries() const { return queries_; }
  size_t found() const { return found_; }  // entries found by queries

 private:
  struct PageFigures {
    int64_t scanned = 0;
    bool last = false;
    std::optional<ConsumedCapacity> capacity;
  };
  // All pages of a request, in order.
  struct Pages {
    std::vector<ModelItem> items;
    int64_t count = 0;
    std::vector<PageFigures> figures;
  };
  enum class Kind { kScan, kQuery };

  ReadRequest ReadOf(const ModelTable& table, const ModelKeyspace& keyspace);
  Pages ReadAll(Kind kind, ReadRequest request);
  // `order` lists the entries that the pages cover.
  void CheckFigures(const ModelTable& table, const ModelKeyspace& keyspace, const ReadRequest& request,
                    const std::vector<ModelItem>& order, const Pages& pages);
  // Reads all pages. They must have these items and the model's counts.
  void ExpectPages(Kind kind, const ModelTable& table, const ModelKeyspace& keyspace, const ReadRequest& request,
                   const std::vector<ModelItem>& order, const std::vector<ModelItem>& items);

  void CompareScans(const ModelTable& table, const ModelKeyspace& keyspace);
  void CompareSegments(const ModelTable& table, const ModelKeyspace& keyspace, const std::vector<ModelItem>& whole,
                       ReadRequest request);
  void CompareQueries(const ModelTable& table, const ModelKeyspace& keyspace, int queries);
  void CompareQuery(const ModelTable& table, const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries);
  void CompareFiltered(const ModelTable& table, const ModelKeyspace& keyspace, const std::vector<ModelItem>& order,
                       ReadRequest request);
  void CompareFetch(const ModelTable& table, const ModelKeyspace& keyspace, const std::vector<ModelItem>& order,
                    ReadRequest request);

  TestEngine* const engine_;
  RandomValues* const values_;
  size_t queries_ = 0;
  size_t found_ = 0;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_MODEL_READER_H_
