#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_DAMAGED_FILES_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_DAMAGED_FILES_H_

// Damage of table files, for tests of the layers that do not know RocksDB.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"

namespace armature::store {

// Opens a closed database with RocksDB alone, and calls fn(db, handles).
template <class Fn>
void WithRocks(const std::string& data_dir, Fn fn) {
  const std::string path = data_dir + "/db";
  std::vector<std::string> names;
  EXPECT_TRUE(rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), path, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  rocksdb::ColumnFamilyOptions options;
  // A compaction might meet earlier damage, and end the flush.
  options.disable_auto_compactions = true;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  EXPECT_TRUE(rocksdb::DB::Open(rocksdb::DBOptions(), path, descriptors, &handles, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  if (db == nullptr) return;
  fn(db.get(), handles);
  for (rocksdb::ColumnFamilyHandle* handle : handles) EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

// Flushes a closed database. Returns the paths of the table files of a column family, those of a level from the newest
// to the oldest.
inline std::vector<std::string> FlushedFilesOf(const std::string& family, const std::string& data_dir) {
  std::vector<std::string> found;
  WithRocks(data_dir, [&](rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    EXPECT_TRUE(db->Flush(rocksdb::FlushOptions(), handles).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      rocksdb::ColumnFamilyMetaData files;
      db->GetColumnFamilyMetaData(handle, &files);
      for (const rocksdb::LevelMetaData& level : files.levels) {
        for (const rocksdb::SstFileMetaData& sst : level.files) {
          if (files.name == family) found.push_back(data_dir + "/db" + sst.name);
        }
      }
    }
  });
  return found;
}

// Writes `count` table files of one row each to a column family of a closed database.
inline void AddFilesTo(const std::string& family, const std::string& data_dir, int count) {
  WithRocks(data_dir, [&](rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      for (int i = 0; i < count && handle->GetName() == family; ++i) {
        EXPECT_TRUE(db->Put({}, handle, "file" + std::to_string(i), "v").ok());
        EXPECT_TRUE(db->Flush(rocksdb::FlushOptions(), handle).ok());
      }
    }
  });
}

// Inverts a byte. Done twice, the file is as before.
inline void InvertByte(const std::string& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(~file.get());
  file.seekp(at);
  file.put(byte);
  EXPECT_TRUE(file.good()) << path;
}

// Inverts a byte in the first block of each file of a column family, after a flush. The database `data_dir` is closed.
inline void DamageFilesOf(const std::string& family, const std::string& data_dir) {
  for (const std::string& path : FlushedFilesOf(family, data_dir)) InvertByte(path, 100);
}

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_DAMAGED_FILES_H_
