#ifndef ARMATURE_TESTS_BENCH_FLOOR_ROWS_H_
#define ARMATURE_TESTS_BENCH_FLOOR_ROWS_H_

// Rows of a floor that are read again. A row is an item as it stands in a message, so that an answer takes one copy
// of each row and nothing else. Requests are parsed as messages.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/types.pb.h"
#include "rocksdb/db.h"

namespace armature::bench {

struct FloorRow {
  std::string key;
  std::string value;
};

// The row of a PutItemRequest of armature-bench, whose keys are pk (S) and sk (N, an integer). nullopt: unreadable.
std::optional<FloorRow> RowOfPut(std::string_view request);

// The rows of a BatchWriteItemRequest of armature-bench, which has puts only. nullopt: unreadable.
std::optional<std::vector<FloorRow>> RowsOfBatch(std::string_view request);

// Answers to requests of armature-bench's workloads get, query and scan: the row, or rows from a place on, at most as
// many as the limit. An unreadable request has an empty answer.
std::string AnswerGet(rocksdb::DB* db, std::string_view request);
std::string AnswerQuery(rocksdb::DB* db, std::string_view request);
std::string AnswerScan(rocksdb::DB* db, std::string_view request);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_FLOOR_ROWS_H_
