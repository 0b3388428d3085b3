#include "armature/client/paginator.h"

#include <string>
#include <vector>

#include "armature/client/item_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// `last`: the last evaluated key, empty on the last page.
template <class Response>
Response Page(const std::vector<std::string>& ids, const std::string& last) {
  Response page;
  for (const std::string& id : ids) *page.add_items() = ItemBuilder().Set("id", S(id)).Build();
  page.set_count(static_cast<int32_t>(ids.size()));
  if (!last.empty()) *page.mutable_last_evaluated_key() = ItemBuilder().Set("id", S(last)).Build();
  return page;
}

template <class Items>
std::vector<std::string> Ids(Items items) {
  std::vector<std::string> ids;
  for (auto& item : items) {
    ids.push_back(item.ok() ? item->attributes().at("id").s() : "error");
  }
  return ids;
}

TEST(Paginator, BeginsEachPageWhereTheLastOneEnded) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::QueryResponse>({"1", "2"}, "2"));
  fake.connection->Answer(Page<api::v1::QueryResponse>({}, "5"));
  fake.connection->Answer(Page<api::v1::QueryResponse>({"7"}, ""));
  api::v1::QueryRequest request;
  request.set_table_name("t");
  std::vector<int> counts;
  for (auto& page : fake.Make().QueryPages(request)) {
    ASSERT_TRUE(page.ok());
    counts.push_back(page->count());
  }
  EXPECT_THAT(counts, ElementsAre(2, 0, 1));
  ASSERT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_FALSE(fake.connection->RequestOf<api::v1::QueryRequest>(0).has_exclusive_start_key());
  const auto second = fake.connection->RequestOf<api::v1::QueryRequest>(1);
  EXPECT_EQ(second.table_name(), "t");
  EXPECT_EQ(second.exclusive_start_key().attributes().at("id").s(), "2");
  const auto third = fake.connection->RequestOf<api::v1::QueryRequest>(2);
  EXPECT_EQ(third.exclusive_start_key().attributes().at("id").s(), "5");
}

TEST(Paginator, GivesNothingAfterTheLastPage) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::ScanResponse>({"1"}, ""));
  ScanPaginator pages = fake.Make().ScanPages({});
  EXPECT_TRUE(pages.NextPage()->has_value());
  EXPECT_TRUE(pages.done());
  EXPECT_FALSE(pages.NextPage()->has_value());
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(Paginator, AsksForTheSamePageAgainAfterAnError) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::ScanResponse>({"1"}, "1"));
  fake.connection->Fail(ApiError(absl::StatusCode::kInternal, "InternalServerError"));
  fake.connection->Answer(Page<api::v1::ScanResponse>({"2"}, ""));
  ScanPaginator pages = fake.Make().ScanPages({});
  EXPECT_TRUE(pages.NextPage().ok());
  EXPECT_FALSE(pages.NextPage().ok());
  const auto page = pages.NextPage();
  ASSERT_TRUE(page.ok() && page->has_value());
  EXPECT_EQ((*page)->items(0).attributes().at("id").s(), "2");
}

TEST(Paginator, EndsAWalkWithTheError) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::ScanResponse>({"1"}, "1"));
  fake.connection->Fail(ApiError(absl::StatusCode::kInternal, "InternalServerError"));
  std::vector<bool> oks;
  for (auto& page : fake.Make().ScanPages({})) oks.push_back(page.ok());
  EXPECT_THAT(oks, ElementsAre(true, false));
}

TEST(ItemRange, GivesTheItemsOfAllPages) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::QueryResponse>({"1", "2"}, "2"));
  fake.connection->Answer(Page<api::v1::QueryResponse>({}, "5"));
  fake.connection->Answer(Page<api::v1::QueryResponse>({"7"}, ""));
  EXPECT_THAT(Ids(fake.Make().QueryItems({})), ElementsAre("1", "2", "7"));
}

TEST(ItemRange, EndsWithTheError) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::ScanResponse>({"1"}, "1"));
  fake.connection->Fail(ApiError(absl::StatusCode::kInternal, "InternalServerError"));
  EXPECT_THAT(Ids(fake.Make().ScanItems({})), ElementsAre("1", "error"));
}

TEST(ItemRange, OfNothingIsEmpty) {
  FakeClient fake;
  fake.connection->Answer(Page<api::v1::ScanResponse>({}, ""));
  EXPECT_THAT(Ids(fake.Make().ScanItems({})), IsEmpty());
}

}  // namespace
}  // namespace armature::client
