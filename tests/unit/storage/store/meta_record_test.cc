#include "storage/store/inspector.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/base/strings.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::meta_record_test {

MetaRecord ParseSound(std::string_view key, std::string_view value, MetaKind kind) {
  MetaRecord record = ParseMetaRecord(key, value);
  EXPECT_TRUE(record.status.ok()) << record.status;
  EXPECT_EQ(record.kind, kind);
  return record;
}

void ExpectDamaged(std::string_view key, std::string_view value, MetaKind kind) {
  const MetaRecord record = ParseMetaRecord(key, value);
  EXPECT_TRUE(absl::IsDataLoss(record.status)) << codec::ToHex(key);
  EXPECT_EQ(record.kind, kind) << codec::ToHex(key);
}

TEST(MetaRecord, EachKindHasItsParts) {
  EXPECT_EQ(ParseSound(kNextIdKey, EncodeU32(7), MetaKind::kNextId).number, 7u);
  EXPECT_EQ(ParseSound(kSequenceKey, EncodeU64(uint64_t{1} << 40), MetaKind::kSequence).number, uint64_t{1} << 40);
  const MetaRecord cursor = ParseSound(CursorKey(TableId(3), IndexId(4)), EncodeU64(9), MetaKind::kCursor);
  EXPECT_EQ(cursor.table, TableId(3));
  EXPECT_EQ(cursor.index, IndexId(4));
  EXPECT_EQ(cursor.number, 9u);
  BuildState state;
  state.phase = BuildPhase::kScanning;
  state.next_key = "key";
  const MetaRecord build = ParseSound(BuildKey(TableId(3), IndexId(5)), EncodeBuildState(state), MetaKind::kBuild);
  EXPECT_EQ(build.index, IndexId(5));
  EXPECT_EQ(build.build, state);
  const MetaRecord totals = ParseSound(StatsKey("t3"), EncodeStats({1, 300}), MetaKind::kStats);
  EXPECT_EQ(totals.name, "t3");
  EXPECT_EQ(totals.totals.items, 1);
  EXPECT_EQ(totals.totals.bytes, 300);
  const TokenRecord token{1234, std::string(TokenRecord::kFingerprintBytes, 'f')};
  const MetaRecord of_token = ParseSound(TokenKey("mine"), EncodeTokenRecord(token), MetaKind::kToken);
  EXPECT_EQ(of_token.name, "mine");
  EXPECT_EQ(of_token.token, token);
  const MetaRecord time = ParseSound(TokenTimeKey(1234, "mine"), "", MetaKind::kTokenTime);
  EXPECT_EQ(time.name, "mine");
  EXPECT_EQ(time.expires_ms, 1234);
  model::TableDescriptor descriptor = IndexedTable("T");
  descriptor.id = TableId(3);
  descriptor.state = model::TableState::kActive;
  EXPECT_EQ(ParseSound(TableKey(TableId(3)), EncodeTableRecord(descriptor), MetaKind::kTable).descriptor, descriptor);
  // A record under another key is refused.
  ExpectDamaged(TableKey(TableId(4)), EncodeTableRecord(descriptor), MetaKind::kTable);
}

TEST(MetaRecord, WhatIsDamagedKeepsItsKind) {
  ExpectDamaged(kNextIdKey, EncodeU64(1), MetaKind::kNextId);
  ExpectDamaged(kSequenceKey, EncodeU32(1), MetaKind::kSequence);
  ExpectDamaged(TableKey(TableId(1)), "\2", MetaKind::kTable);
  ExpectDamaged(kTablePrefix, "", MetaKind::kTable);
  ExpectDamaged(CursorKey(TableId(1), IndexId(2)), "", MetaKind::kCursor);
  ExpectDamaged(CursorPrefix(TableId(1)), EncodeU64(1), MetaKind::kCursor);
  ExpectDamaged(CursorKey(TableId(1), IndexId(2)) + "x", EncodeU64(1), MetaKind::kCursor);
  ExpectDamaged(BuildKey(TableId(1), IndexId(2)), "", MetaKind::kBuild);
  ExpectDamaged(StatsKey("t1"), "\1", MetaKind::kStats);
  ExpectDamaged(TokenKey("a"), "\1", MetaKind::kToken);
  ExpectDamaged(TokenTimeKey(1, "a"), "x", MetaKind::kTokenTime);
  ExpectDamaged(kTokenTimePrefix, "", MetaKind::kTokenTime);
  ExpectDamaged("", "", MetaKind::kUnknown);
  ExpectDamaged("next_ide", EncodeU32(1), MetaKind::kUnknown);
  // The key identifies the record even if the value is damaged.
  EXPECT_EQ(ParseMetaRecord(CursorKey(TableId(1), IndexId(2)), "").index, IndexId(2));
}

}  // namespace armature::store::meta_record_test
