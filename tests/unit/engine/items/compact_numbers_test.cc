// Numbers with many zeros are held with exponents and answered without.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/items/group_test_util.h"
#include "tests/unit/storage/model/printed_item.h"

namespace armature::engine::compact_numbers_test {

using codec::Item;
using codec::L;
using codec::N;
using codec::Ns;
using codec::S;
using testing::HasSubstr;

constexpr char kTable[] = "things";
constexpr size_t kMany = 60'000;  // "1e125" in a list has 3 bytes by the rules of the API, and 131 in an answer

std::string Zeros(size_t count) { return std::string(count, '0'); }
const std::string kGoogol = "1" + Zeros(100);  // NOLINT(cert-err58-cpp): a test

// Keys and attributes with compact numbers.
std::string Thing(std::string_view sk, codec::Attributes more = {}) {
  codec::Attributes all = {{"color", S("red")}, {"n", N("1e100")}};
  all.insert(all.end(), more.begin(), more.end());
  return PlainItem("a", sk, all);
}

std::string Shown(std::string_view item_bytes) { return model::PrintedItem(model::ItemView(item_bytes)); }

class CompactNumbersTest : public testing::Test {
 protected:
  void SetUp() override {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}, {"color", "S"}, {"n", "N"}};
    definition.local_indexes = {IndexOf("Local", {{"pk", "HASH"}, {"n", "RANGE"}}, "ALL")};
    definition.global_indexes = {IndexOf("Global", {{"color", "HASH"}, {"n", "RANGE"}}, "ALL"),
                                 IndexOf("Sparse", {{"color", "HASH"}}, "INCLUDE", {"l"})};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
  }

  uint64_t Put(std::string item) {
    const absl::StatusOr<WriteResult> put = engine_.Put(WriteTo(kTable, std::move(item)));
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? put->change_sequence : 0;
  }
  // An item with a list of numbers.
  uint64_t PutMany(std::string_view sk, size_t count, const std::string& number = "1e125") {
    return Put(
        PlainItem("a", sk, {{"color", S("red")}, {"l", L(std::vector<std::string>(count, N(number)))}, {"n", N("1")}}));
  }
  std::string Get(std::string_view sk, std::string projection = "") {
    GetItemRequest request = GetFrom(kTable, PlainItem("a", sk));
    if (!projection.empty()) request.expressions.projection = std::move(projection);
    const absl::StatusOr<GetItemResult> got = engine_.Get(std::move(request));
    if (!got.ok()) return got.status().ToString();
    return got->item.has_value() ? std::string(got->item->view()) : "nothing";
  }
  static ReadRequest ReadOf(std::string index, uint64_t sequence = 0) {
    ReadRequest request;
    request.table_name = kTable;
    if (!index.empty()) request.index_name = index;
    request.at_least_sequence = sequence;
    return request;
  }
  static WriteRequest UpdateOf(std::string expression, const codec::Attributes& values, std::string returned) {
    WriteRequest request = WriteTo(kTable, PlainItem("a", "1e30"));
    request.expressions.update = std::move(expression);
    request.expressions.values_wire = Item(values);
    request.return_values = std::move(returned);
    return request;
  }
  std::string Updated(std::string expression, const codec::Attributes& values, std::string returned) {
    const absl::StatusOr<WriteResult> result =
        engine_.Update(UpdateOf(std::move(expression), values, std::move(returned)));
    if (!result.ok()) return result.status().ToString();
    return result->attributes.has_value() ? Shown(result->attributes->view()) : "nothing";
  }
  // The stored values of all rows; `index` empty: of the table.
  std::vector<std::pair<std::string, std::string>> Rows(const std::string& index = "") {
    const std::shared_ptr<const store::CatalogSnapshot> catalog = engine_.database().catalog();
    const store::Table& table = *catalog->Find(kTable);
    std::vector<std::pair<std::string, std::string>> rows;
    const auto read = engine_.database().rows().ReadRange(index.empty() ? table.data : table.FindIndex(index)->keyspace,
                                                          {}, store::Direction::kForward,
                                                          [&](std::string_view key, std::string_view value) {
                                                            rows.emplace_back(key, value);
                                                            return store::RowVerdict::kContinue;
                                                          });
    EXPECT_TRUE(read.ok()) << read.status();
    return rows;
  }
  // Replaces all rows of the table and its indexes by rows of format 1.
  void MakeOld() {
    const std::shared_ptr<const store::CatalogSnapshot> catalog = engine_.database().catalog();
    const store::Table& table = *catalog->Find(kTable);
    store::WriteUnit unit(catalog);
    for (const std::string index : {"", "Local", "Global", "Sparse"}) {
      const store::Keyspace& keyspace = index.empty() ? table.data : table.FindIndex(index)->keyspace;
      for (const auto& [key, value] : Rows(index)) unit.Put(keyspace, key, Old(value));
    }
    ASSERT_TRUE(engine_.database().change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  }
  static std::string Old(std::string_view value) {
    const codec::StoredItemView stored = *codec::ParseStoredItem(value);
    std::string old = "\x01";
    model::AppendVarint(stored.api_size, &old);
    return old + model::PlainItem(stored.item.bytes());
  }
  size_t Differences() {
    VerifyTableRequest request;
    request.table_name = kTable;
    size_t count = 0;
    do {
      Answer<VerifyTableResult> answer;
      engine_->VerifyTable(request, answer.Catch());
      const absl::StatusOr<VerifyTableResult> page = answer.Take();
      if (!page.ok()) {
        ADD_FAILURE() << page.status();
        break;
      }
      count += page->differences.size();
      request.start_position = page->next_position;
    } while (!request.start_position.empty());
    return count;
  }

  TestEngine engine_;
};

TEST_F(CompactNumbersTest, RowsAndEntriesHaveASmallMultipleOfTheItemSize) {
  constexpr size_t kFew = 10'000;
  const uint64_t sequence = PutMany("1", kFew);
  ASSERT_TRUE(engine_.Scan(ReadOf("Global", sequence)).ok());
  ASSERT_TRUE(engine_.Scan(ReadOf("Sparse", sequence)).ok());
  for (const char* const index : {"", "Local", "Global", "Sparse"}) {
    const auto rows = Rows(index);
    ASSERT_EQ(rows.size(), 1u) << index;
    EXPECT_GT(codec::ParseStoredItem(rows[0].second)->api_size, 3 * kFew) << index;
    EXPECT_LT(rows[0].second.size(), 10 * kFew) << index;
  }
  const std::string plain = PlainItem(
      "a", "1", {{"color", S("red")}, {"l", L(std::vector<std::string>(kFew, N("1" + Zeros(125))))}, {"n", N("1")}});
  EXPECT_EQ(Get("1").size(), plain.size());
}

// The longest texts for their API size.
TEST_F(CompactNumbersTest, NoItemHasMoreThanThirteenTimesItsSize) {
  std::vector<std::string> numbers;
  for (int i = 1; i < 100; ++i) {
    if (i % 10 != 0) numbers.push_back("0." + Zeros(19) + std::to_string(i));
  }
  Put(Thing("1", {{"l", L(std::vector<std::string>(1'000, Ns(numbers)))}}));
  const std::string value = Rows().at(0).second;
  EXPECT_GT(value.size(), 12 * codec::ParseStoredItem(value)->api_size);
  EXPECT_LT(value.size(), 13 * codec::ParseStoredItem(value)->api_size);
  EXPECT_GE(model::kItemEncodedMaxBytes, 13 * model::kItemSizeMaxBytes);
}

TEST_F(CompactNumbersTest, NoNumberHasMoreThanTenTimesTheItemSize) {
  for (const std::string& number : {"1" + Zeros(19), "12" + Zeros(19), "-1" + Zeros(19), "0." + Zeros(19) + "12",
                                    "-0." + Zeros(19) + "12", std::string("1e-130"), std::string("-12e-130")}) {
    PutMany("1", 2'000, number);
    const std::string value = Rows().at(0).second;
    EXPECT_LT(value.size(), 10 * codec::ParseStoredItem(value)->api_size) << number;
  }
}

TEST_F(CompactNumbersTest, ReadsAnswerPlainNumbers) {
  const uint64_t sequence = Put(Thing("1e30", {{"ns", Ns({"1e20", "5"})}}));
  const std::string plain = PlainItem("a", "1" + Zeros(30), {});
  const std::string shown = "color=S:red, n=N:" + kGoogol + ", ns=<5, 1" + Zeros(20) + ">, pk=S:a, sk=N:1" + Zeros(30);
  const std::string item = Get("1e30");
  EXPECT_EQ(Shown(item), shown);
  EXPECT_EQ(Shown(Get("1e30", "n, color")), "color=S:red, n=N:" + kGoogol);
  for (const char* const index : {"", "Local", "Global"}) {
    ReadRequest request = ReadOf(index, *index == 'G' ? sequence : 0);
    request.limit = 1;
    absl::StatusOr<Page> page = engine_.Scan(request);
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_EQ(page->items.size(), 1u);
    EXPECT_EQ(Shown(page->items[0]), shown) << index;
    EXPECT_THAT(Shown(*page->result.last_evaluated_key), HasSubstr("sk=N:1" + Zeros(30)));
    request.exclusive_start_key_wire = *page->result.last_evaluated_key;
    EXPECT_TRUE(engine_.Scan(request)->items.empty());
    request.exclusive_start_key_wire.reset();
    request.expressions.projection = "n";
    page = engine_.Scan(request);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(Shown(page->items[0]), "n=N:" + kGoogol) << index;
  }
  const absl::StatusOr<BatchGetResult> batch = BatchGet(engine_, BatchOfKeys(kTable, {plain}));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(Shown(batch->tables[0].items[0].view()), shown);
  const absl::StatusOr<TransactGetResult> transaction = TransactRead(engine_, engine::ReadOf(kTable, {plain}));
  ASSERT_TRUE(transaction.ok()) << transaction.status();
  EXPECT_EQ(Shown(transaction->items[0]->view()), shown);
}

TEST_F(CompactNumbersTest, LongReadsOfClientsThatHaveGoneAreNotExecuted) {
  PutMany("1", 50'000);
  const RequestContext gone{.deadline = Deadline::Passed(), .cancelled = nullptr};
  const absl::Status read = engine_.Get(GetFrom(kTable, PlainItem("a", "1")), gone).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(read)) << read;
}

TEST_F(CompactNumbersTest, AnExportHasPlainNumbers) {
  Put(Thing("1e30"));
  Answer<std::shared_ptr<TableExport>> opened;
  engine_->OpenExport(kTable, opened.Catch());
  const std::shared_ptr<TableExport> exported = *opened.Take();
  ItemCollector page;
  Answer<bool> answer;
  exported->ReadPage(&page, answer.Catch());
  ASSERT_TRUE(answer.Take().ok());
  EXPECT_EQ(Shown(page.items.at(0)), "color=S:red, n=N:" + kGoogol + ", pk=S:a, sk=N:1" + Zeros(30));
}

TEST_F(CompactNumbersTest, WritesAnswerPlainNumbers) {
  Put(Thing("1e30"));
  EXPECT_EQ(Updated("SET m = :v", {{":v", N("2e20")}}, "UPDATED_NEW"), "m=N:2" + Zeros(20));
  EXPECT_EQ(Updated("SET m = :v", {{":v", N("3")}}, "UPDATED_OLD"), "m=N:2" + Zeros(20));
  const std::string item = "color=S:red, m=N:3, n=N:" + kGoogol + ", pk=S:a, sk=N:1" + Zeros(30);
  EXPECT_EQ(Updated("SET m = :v", {{":v", N("3")}}, "ALL_NEW"), item);
  EXPECT_EQ(Updated("SET m = :v", {{":v", N("3")}}, "ALL_OLD"), item);
  WriteRequest refused = WriteTo(kTable, Thing("1e30"));
  refused.expressions.condition = "attribute_not_exists(pk)";
  refused.return_values_on_condition_check_failure = "ALL_OLD";
  EXPECT_EQ(Shown(GetApiError(engine_.Put(refused).status())->item), item);
  TransactAction action = ActionOf(WriteKind::kPut, kTable, Thing("1e30"), "attribute_not_exists(pk)");
  action.write.return_values_on_condition_check_failure = "ALL_OLD";
  const absl::Status canceled = Transact(engine_, TransactionOf({action})).status();
  EXPECT_EQ(Shown(GetCancellationReasons(canceled).at(0).item), item);
}

TEST_F(CompactNumbersTest, ConditionsCompareByValue) {
  Put(Thing("1e30", {{"l", L({N("5e-30")})}, {"ns", Ns({"1e20", "5"})}}));
  const struct {
    const char* condition;
    std::string value;
    bool holds;
  } kCases[] = {
      {"n = :v", N("10e99"), true},
      {"n = :v", N(kGoogol), true},
      {"n = :v", N("1e101"), false},
      {"n < :v", N("1e101"), true},
      {"n > :v", N("99999999999999999999999999999999999999"), true},
      {"n < :v", N("-1e101"), false},
      {"n IN (:v)", N(kGoogol + ".0"), true},
      {"l[0] < :v", N("1e-29"), true},
      {"l[0] > :v", N("0"), true},
      {"contains(l, :v)", N("0.5e-29"), true},
      {"contains(ns, :v)", N("1" + Zeros(20)), true},
      {"ns = :v", Ns({"5.0", "10e19"}), true},
      {"size(ns) < :v", N("1e20"), true},
      {"n >= :v", N("1e99"), true},
  };
  for (const auto& c : kCases) {
    WriteRequest request = UpdateOf("REMOVE absent", {{":v", c.value}}, "");
    request.expressions.condition = c.condition;
    EXPECT_EQ(engine_.Update(std::move(request)).ok(), c.holds) << c.condition;
  }
  WriteRequest request = UpdateOf("REMOVE absent", {{":v", N("1e40")}, {":w", N("1")}}, "");
  request.expressions.condition = "n BETWEEN :v AND :w";
  EXPECT_THAT(std::string(engine_.Update(std::move(request)).status().message()), HasSubstr("{N:1" + Zeros(40) + "}"));
}

TEST_F(CompactNumbersTest, SumsBecomeCompactAndPlain) {
  Put(Thing("1e30", {{"m", N("9e19")}}));
  EXPECT_EQ(Updated("ADD m :v", {{":v", N("1e19")}}, "UPDATED_NEW"), "m=N:1" + Zeros(20));
  EXPECT_EQ(Shown(codec::ParseStoredItem(Rows().at(0).second)->item.bytes()),
            "color=S:red, m=N:1e20, n=N:1e100, pk=S:a, sk=N:1e30");
  EXPECT_EQ(Updated("SET m = m - :v", {{":v", N("1")}}, "UPDATED_NEW"), "m=N:99999999999999999999");
  EXPECT_EQ(Updated("ADD ns :v", {{":v", Ns({"1e30", "2e30"})}}, "NONE"), "nothing");
  EXPECT_EQ(Updated("DELETE ns :v", {{":v", Ns({"1" + Zeros(30)})}}, "UPDATED_NEW"), "ns=<2" + Zeros(30) + ">");
}

TEST_F(CompactNumbersTest, OnlyRowsWithCompactNumbersAreMarked) {
  WriteRequest request = WriteTo(kTable, PlainItem("a", "1", {{"m", N("1e20")}}));
  ASSERT_TRUE(engine_.Put(request).ok());
  EXPECT_TRUE(codec::ParseStoredItem(Rows().at(0).second)->compact_numbers);
  request = WriteTo(kTable, PlainItem("a", "1"));
  request.expressions.update = "REMOVE m";
  ASSERT_TRUE(engine_.Update(request).ok());
  EXPECT_FALSE(codec::ParseStoredItem(Rows().at(0).second)->compact_numbers);
  // An entry without the compact number of its item.
  Put(PlainItem("a", "1", {{"color", S("red")}, {"l", L({})}, {"m", N("1e20")}}));
  ASSERT_TRUE(engine_.Scan(ReadOf("Sparse", engine_.database().change_log().watermark().value())).ok());
  EXPECT_TRUE(codec::ParseStoredItem(Rows().at(0).second)->compact_numbers);
  EXPECT_FALSE(codec::ParseStoredItem(Rows("Sparse").at(0).second)->compact_numbers);
}

TEST_F(CompactNumbersTest, RowsOfFormat1AreRowsLikeOthers) {
  Put(Thing("1e30", {{"l", L({N("5e-30")})}}));
  uint64_t sequence = Put(Thing("7", {{"s", S("text")}, {"zeros", S(Zeros(40))}}));
  ASSERT_TRUE(engine_.Scan(ReadOf("Global", sequence)).ok());
  ASSERT_TRUE(engine_.Scan(ReadOf("Sparse", sequence)).ok());
  const std::string big = Get("1e30");
  const std::string small = Get("7");
  MakeOld();
  EXPECT_EQ(Differences(), 0u);
  EXPECT_EQ(Get("1e30"), big);
  EXPECT_EQ(Get("7"), small);
  for (const char* const index : {"", "Local", "Global"}) {
    ReadRequest request = ReadOf(index);
    request.expressions.filter = "n = :n AND l[0] = :l";
    request.expressions.values_wire = Item({{":l", N("5e-30")}, {":n", N("1e100")}});
    const absl::StatusOr<Page> page = engine_.Scan(request);
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_EQ(page->items.size(), 1u) << index;
    EXPECT_EQ(page->items[0], big) << index;
  }
  // A write of the same item changes nothing, and another one leaves entries of this format.
  const auto before = Rows();
  Put(big);
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(Updated("SET m = n + :v", {{":v", N("1e99")}}, "UPDATED_NEW"), "m=N:11" + Zeros(99));
  sequence = engine_.database().change_log().watermark().value();
  ASSERT_TRUE(engine_.Scan(ReadOf("Global", sequence)).ok());
  EXPECT_EQ(Differences(), 0u);
  for (const char* const index : {"", "Local", "Global"}) {
    size_t old = 0;
    for (const auto& [key, value] : Rows(index)) old += value[0] == '\x01' ? 1 : 0;
    EXPECT_EQ(old, 1u) << index;
  }
}

TEST_F(CompactNumbersTest, PagesAndGroupsCountWhatTheyAnswer) {
  for (int i = 1; i < 9; ++i) PutMany(std::to_string(i), 10'000);  // 1.3 MB each in an answer
  const absl::StatusOr<Page> page = engine_.Scan(ReadOf(""));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->items.size(), 2u);
  EXPECT_TRUE(page->result.last_evaluated_key.has_value());
  for (int i = 0; i < 5; ++i) PutMany(Cat(i, "e30"), kMany);  // 7.9 MB each
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) keys.push_back(PlainItem("a", Cat(i, "e30")));
  const absl::StatusOr<BatchGetResult> batch = BatchGet(engine_, BatchOfKeys(kTable, keys));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->tables[0].items.size(), 4u);
  ASSERT_EQ(batch->unprocessed.size(), 1u);
  EXPECT_EQ(batch->unprocessed[0].key_wires->size(), 1u);
  EXPECT_EQ(Shown(batch->unprocessed[0].key_wires->at(0)), "pk=S:a, sk=N:4" + Zeros(30));
  const absl::Status refused = TransactRead(engine_, engine::ReadOf(kTable, keys)).status();
  EXPECT_THAT(ReasonsOf(refused), HasSubstr("with their numbers written out"));
  std::vector<TransactAction> actions;
  for (const std::string& key : keys) {
    actions.push_back(ActionOf(WriteKind::kDelete, kTable, key, "attribute_not_exists(pk)"));
    actions.back().write.return_values_on_condition_check_failure = "ALL_OLD";
  }
  const std::vector<CancellationReason> reasons =
      GetCancellationReasons(Transact(engine_, TransactionOf(actions)).status());
  ASSERT_EQ(reasons.size(), 5u);
  EXPECT_FALSE(reasons[3].item.empty());
  EXPECT_TRUE(reasons[4].item.empty());
  EXPECT_EQ(reasons[4].code, "ConditionalCheckFailed");
}

}  // namespace armature::engine::compact_numbers_test
