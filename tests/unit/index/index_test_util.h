#ifndef ARMATURE_TESTS_UNIT_INDEX_INDEX_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_INDEX_INDEX_TEST_UTIL_H_

// Short builders of items and indexes.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::index {

// Canonical bytes of an item with string attributes.
inline std::string StringItem(const std::vector<std::pair<std::string, std::string>>& attributes) {
  codec::Attributes values;
  for (const auto& [name, text] : attributes) values.emplace_back(name, codec::S(text));
  const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(codec::Item(values));
  EXPECT_TRUE(item.ok()) << item.status();
  return item.ok() ? item->bytes : "";
}

// The key components of `texts`, concatenated.
inline std::string Components(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    EXPECT_TRUE(codec::AppendKeyComponent(model::ScalarType::kString, text, &bytes));
  }
  return bytes;
}

// Partition hash and key components.
inline std::string HashedKey(const std::vector<std::string>& partition, const std::vector<std::string>& rest) {
  const std::string components = Components(partition);
  std::string key;
  codec::AppendPartitionHash(codec::PartitionHash(components), &key);
  return key + components + Components(rest);
}

// An index without a keyspace.
inline store::Index BareIndex(model::IndexKind kind, const model::KeySchema& key, const model::KeySchema& table_key,
                              model::Projection projection = {}) {
  store::Index index;
  index.descriptor = store::MakeIndex("i", kind, key, std::move(projection));
  index.key_names = model::UnionOfKeyNames(key, table_key);
  return index;
}

}  // namespace armature::index

#endif  // ARMATURE_TESTS_UNIT_INDEX_INDEX_TEST_UTIL_H_
