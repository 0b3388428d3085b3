#ifndef ARMATURE_TESTS_BENCH_FLOOR_METHODS_H_
#define ARMATURE_TESTS_BENCH_FLOOR_METHODS_H_

// The methods of a floor, for any transport.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "tests/bench/floor_database.h"

namespace armature::bench {

// Serves a request, on any thread, and replies now or later.
using FloorServe = std::function<void(std::string request, FloorReply reply)>;

struct FloorOptions {
  std::string name;          // of the program
  size_t rows = 1;           // that a put writes
  bool has_lookups = false;  // items are looked up before they are written, and tokens of transactions are kept
  bool is_for_reads = false;
};

// Requests are not parsed: a put writes the bytes of its request as one row, or as several of equal size together,
// under new keys. With has_lookups, calls also do what the data model needs of the engine: each item is looked up
// before it is written, and a transaction looks up its token and writes two rows for it. With is_for_reads, puts are
// parsed and stored under their keys, and get, query and scan copy stored rows into their answers.
struct FloorMethods {
  struct Method {
    std::string path;  // "/armature.api.v1.ItemService/PutItem"
    FloorServe serve;
  };
  std::vector<Method> unary;
  // For each request of a Pipeline stream; null: there is no such stream.
  FloorServe pipeline;
};

inline constexpr char kPipelinePath[] = "/armature.api.v1.ItemService/Pipeline";

// The database and the writer outlive the result.
FloorMethods MakeFloorMethods(const FloorOptions& options, rocksdb::DB* db, FloorWriter* writer);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_FLOOR_METHODS_H_
