#ifndef ARMATURE_TESTS_UNIT_STORE_DAMAGED_FILES_H_
#define ARMATURE_TESTS_UNIT_STORE_DAMAGED_FILES_H_

// Damage of table files, for tests of the layers that do not know RocksDB.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"

namespace armature::store {

// Inverts a byte in the first block of each file of a column family, after a flush. The database `data_dir` is closed.
inline void DamageFilesOf(const std::string& family, const std::string& data_dir) {
  const std::string path = data_dir + "/db";
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), path, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(rocksdb::DBOptions(), path, descriptors, &handles, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  EXPECT_TRUE(db->Flush(rocksdb::FlushOptions(), handles).ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    rocksdb::ColumnFamilyMetaData files;
    db->GetColumnFamilyMetaData(handle, &files);
    for (const rocksdb::LevelMetaData& level : files.levels) {
      for (const rocksdb::SstFileMetaData& sst : level.files) {
        if (files.name != family) continue;
        std::fstream file(path + sst.name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(100);
        const char byte = static_cast<char>(~file.get());
        file.seekp(100);
        file.put(byte);
        EXPECT_TRUE(file.good()) << sst.name;
      }
    }
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  }
}

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORE_DAMAGED_FILES_H_
