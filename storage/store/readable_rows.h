#ifndef ARMATURE_STORAGE_STORE_READABLE_ROWS_H_
#define ARMATURE_STORAGE_STORE_READABLE_ROWS_H_

// The numbers of rows that can be read in a damaged data directory, for whoever has to choose what to give up.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

struct ReadableTable {
  std::string name;
  int64_t rows = 0;            // as the totals say that can be read, which are exact where they are not lost
  int64_t readable = 0;        // number of rows that can be read
  size_t gaps = 0;             // number of places that cannot be read
  size_t damaged_indexes = 0;  // indexes with places that cannot be read; they can be made again
};

struct ReadableRows {
  std::vector<ReadableTable> tables;  // those of the catalog, sorted by name
  uint64_t change_sequence = 0;       // the highest that can be read
};

// Reads all rows of `data_dir`, with those that are only in readable parts of the log. If the database cannot be
// opened, the rows of its table files are counted. Changes nothing. Errors: as Inspector::Open.
absl::StatusOr<ReadableRows> CountReadableRows(Volume* volume, const std::string& data_dir);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_READABLE_ROWS_H_
