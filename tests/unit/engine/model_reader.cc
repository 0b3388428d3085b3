#include "tests/unit/engine/model_reader.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "tests/unit/engine/capacity_model.h"
#include "tests/unit/engine/random_condition.h"

namespace armature::engine {
namespace {

constexpr size_t kPageBytes = 1 << 20;
constexpr size_t kReadUnitBytes = 4096;
constexpr size_t kRowOverhead = 100;  // documented overhead in sizes of tables and indexes

// The only filter: items with this attribute.
constexpr char kFilterAttribute[] = "y";
constexpr char kFilter[] = "attribute_exists(y)";

std::vector<std::string> Sorted(const std::vector<ModelItem>& items) {
  std::vector<std::string> printed;
  printed.reserve(items.size());
  for (const ModelItem& item : items) printed.push_back(Printed(item));
  std::sort(printed.begin(), printed.end());
  return printed;
}

// Expects the same items in any order.
void ExpectSameItems(const std::vector<ModelItem>& items, const std::vector<ModelItem>& expected) {
  const std::vector<std::string> have = Sorted(items);
  const std::vector<std::string> want = Sorted(expected);
  std::vector<std::string> missing;
  std::vector<std::string> superfluous;
  std::set_difference(want.begin(), want.end(), have.begin(), have.end(), std::back_inserter(missing));
  std::set_difference(have.begin(), have.end(), want.begin(), want.end(), std::back_inserter(superfluous));
  ASSERT_EQ(missing, std::vector<std::string>());
  ASSERT_EQ(superfluous, std::vector<std::string>());
}

bool Projects(const ModelKeyspace& keyspace, const std::string& attribute) {
  return !keyspace.projected.has_value() || keyspace.projected->contains(attribute);
}

// On a global index the filter sees only the entry's attributes.
bool Passes(const ModelTable& table, const ModelKeyspace& keyspace, const ReadRequest& request,
            const ModelItem& entry) {
  if (!request.expressions.filter.has_value()) return true;
  return keyspace.global ? entry.contains(kFilterAttribute) : table.Row(entry)->contains(kFilterAttribute);
}

// True if the table's item is read for an entry: for the filter, or because all attributes are wanted.
bool IsFetched(const ModelTable& table, const ModelKeyspace& keyspace, const ReadRequest& request,
               const ModelItem& entry) {
  if (keyspace.global || !keyspace.projected.has_value()) return false;
  if (request.expressions.filter.has_value() && !Projects(keyspace, kFilterAttribute)) return true;
  return request.select == "ALL_ATTRIBUTES" && Passes(table, keyspace, request, entry);
}

// Bytes that count toward the page limit. With fetches, sizes are rounded up as for capacity.
size_t PageBytes(const ModelKeyspace& keyspace, const std::vector<ModelItem>& scanned,
                 const std::vector<ModelItem>& fetched) {
  if (!fetched.empty()) {
    return static_cast<size_t>(CapacityOfPage(keyspace, scanned, fetched, /*consistent=*/true).Sum()) * kReadUnitBytes;
  }
  size_t bytes = 0;
  for (const ModelItem& entry : scanned) bytes += ApiSizeOf(entry);
  return bytes;
}

Totals TotalsOf(const std::vector<ModelItem>& entries) {
  size_t bytes = 0;
  for (const ModelItem& entry : entries) bytes += ApiSizeOf(entry) + kRowOverhead;
  return {static_cast<int64_t>(entries.size()), static_cast<int64_t>(bytes)};
}

std::string Told(const Totals& totals) {
  return std::to_string(totals.item_count) + " items, " + std::to_string(totals.size_bytes) + " bytes";
}

// Totals by index name; the table's name is empty.
using TotalsByName = std::map<std::string, std::string>;

// Without indexes under construction, whose totals change.
TotalsByName ExpectedTotals(const ModelTable& table) {
  TotalsByName totals;
  for (const ModelKeyspace& keyspace : table.keyspaces()) {
    if (!keyspace.filling) totals[keyspace.index_name.value_or("")] = Told(TotalsOf(table.EntriesOf(keyspace)));
  }
  return totals;
}

// Adds the totals of an index, unless it is being deleted or built.
void AddTotals(const ModelTable& table, const model::IndexDescriptor& index, const Totals& totals,
               TotalsByName* by_name) {
  const std::vector<ModelKeyspace>& known = table.keyspaces();
  const bool filling = std::any_of(known.begin(), known.end(), [&index](const ModelKeyspace& keyspace) {
    return keyspace.index_name == index.name && keyspace.filling;
  });
  if (index.state != model::IndexState::kDeleting && !filling) (*by_name)[index.name] = Told(totals);
}

}  // namespace

ReadRequest ModelReader::ReadOf(const ModelTable& table, const ModelKeyspace& keyspace) {
  static const std::vector<std::string> kModes = {"INDEXES", "INDEXES", "INDEXES", "TOTAL", "NONE"};
  ReadRequest request;
  request.table_name = table.name();
  request.index_name = keyspace.index_name;
  request.at_least_sequence = table.last_sequence;
  request.consistent_read = !keyspace.global && values_->OneIn(2);
  request.return_consumed_capacity = values_->Pick(kModes);
  return request;
}

ModelReader::Pages ModelReader::ReadAll(Kind kind, ReadRequest request) {
  Pages pages;
  while (true) {
    absl::StatusOr<Page> page = kind == Kind::kScan ? engine_->Scan(request) : engine_->Query(request);
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return pages;
    if (request.select != "COUNT") {
      EXPECT_EQ(page->result.count, static_cast<int64_t>(page->items.size()));
    }
    for (const std::string& item : page->items) pages.items.push_back(Decode(item));
    pages.count += page->result.count;
    const bool last = !page->result.last_evaluated_key.has_value();
    pages.figures.push_back({page->result.scanned_count, last, page->result.capacity});
    if (last) return pages;
    request.exclusive_start_key_wire = *page->result.last_evaluated_key;
  }
}

void ModelReader::CheckFigures(const ModelTable& table, const ModelKeyspace& keyspace, const ReadRequest& request,
                               const std::vector<ModelItem>& order, const Pages& pages) {
  size_t position = 0;
  for (const PageFigures& page : pages.figures) {
    const auto rows = static_cast<size_t>(page.scanned);
    ASSERT_LE(position + rows, order.size());
    const auto begin = order.begin() + static_cast<ptrdiff_t>(position);
    const std::vector<ModelItem> scanned(begin, begin + page.scanned);
    std::vector<ModelItem> fetched;
    for (const ModelItem& entry : scanned) {
      if (IsFetched(table, keyspace, request, entry)) fetched.push_back(*table.Row(entry));
    }
    const size_t bytes = PageBytes(keyspace, scanned, fetched);
    EXPECT_EQ(Told(page.capacity), Told(CapacityOfPage(keyspace, scanned, fetched, request.consistent_read),
                                        request.return_consumed_capacity, table.name()))
        << rows << " entries, " << fetched.size() << " fetched items, " << bytes << " bytes in all, "
        << (request.consistent_read ? "consistent" : "eventually consistent");
    EXPECT_LE(page.scanned, request.limit.value_or(INT64_MAX));
    if (!page.last) {
      EXPECT_TRUE(page.scanned == request.limit || bytes >= kPageBytes) << page.scanned << " entries end a page";
    }
    position += rows;
  }
  EXPECT_EQ(position, order.size());
}

void ModelReader::ExpectPages(Kind kind, const ModelTable& table, const ModelKeyspace& keyspace,
                              const ReadRequest& request, const std::vector<ModelItem>& order,
                              const std::vector<ModelItem>& items) {
  const Pages pages = ReadAll(kind, request);
  ASSERT_EQ(pages.count, static_cast<int64_t>(items.size()));
  if (request.select != "COUNT") {
    ASSERT_EQ(pages.items, items);
  }
  CheckFigures(table, keyspace, request, order, pages);
}

void ModelReader::CompareScans(const ModelTable& table, const ModelKeyspace& keyspace) {
  ReadRequest request = ReadOf(table, keyspace);
  const Pages whole = ReadAll(Kind::kScan, request);
  ASSERT_NO_FATAL_FAILURE(ExpectSameItems(whole.items, table.EntriesOf(keyspace)));
  CheckFigures(table, keyspace, request, whole.items, whole);
  request.limit = 1 + static_cast<int64_t>(values_->Below(20));
  SCOPED_TRACE("limit " + std::to_string(*request.limit));
  ExpectPages(Kind::kScan, table, keyspace, request, whole.items, whole.items);
  CompareFiltered(table, keyspace, whole.items, request);
  if (!keyspace.global) CompareFetch(table, keyspace, whole.items, request);
  CompareSegments(table, keyspace, whole.items, std::move(request));
}

void ModelReader::CompareSegments(const ModelTable& table, const ModelKeyspace& keyspace,
                                  const std::vector<ModelItem>& whole, ReadRequest request) {
  std::vector<ModelItem> segments;
  request.total_segments = 1 + static_cast<int64_t>(values_->Below(5));
  for (int64_t segment = 0; segment < *request.total_segments; ++segment) {
    request.segment = segment;
    const Pages part = ReadAll(Kind::kScan, request);
    CheckFigures(table, keyspace, request, part.items, part);
    segments.insert(segments.end(), part.items.begin(), part.items.end());
  }
  EXPECT_EQ(segments, whole) << *request.total_segments << " segments";
}

void ModelReader::CompareQueries(const ModelTable& table, const ModelKeyspace& keyspace, int queries) {
  SCOPED_TRACE(table.name() + "/" + keyspace.index_name.value_or(""));
  const std::vector<ModelItem> entries = table.EntriesOf(keyspace);
  for (int i = 0; i < queries && !entries.empty(); ++i) {
    ASSERT_NO_FATAL_FAILURE(CompareQuery(table, keyspace, entries));
  }
}

void ModelReader::CompareQuery(const ModelTable& table, const ModelKeyspace& keyspace,
                               const std::vector<ModelItem>& entries) {
  const ModelCondition condition = RandomCondition(keyspace, entries, values_);
  std::vector<ModelItem> expected;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(expected),
               [&](const ModelItem& entry) { return condition.Holds(keyspace, entry); });
  ++queries_;
  found_ += expected.size();
  ReadRequest request = ReadOf(table, keyspace);
  Express(keyspace, condition, &request);
  request.scan_index_forward = values_->OneIn(2);
  SCOPED_TRACE(*request.expressions.key_condition + " with " + Printed(Decode(*request.expressions.values_wire)) +
               (request.scan_index_forward ? "" : "backwards"));
  const Pages whole = ReadAll(Kind::kQuery, request);
  ASSERT_NO_FATAL_FAILURE(ExpectSameItems(whole.items, expected));
  for (size_t i = 1; i < whole.items.size(); ++i) {
    const Tuple before = Pick(whole.items[i - 1], keyspace.sort);
    const Tuple after = Pick(whole.items[i], keyspace.sort);
    ASSERT_TRUE(request.scan_index_forward ? before <= after : before >= after)
        << Printed(whole.items[i - 1]) << "stands before " << Printed(whole.items[i]);
  }
  CheckFigures(table, keyspace, request, whole.items, whole);
  // A query for the only row of a full key has no further pages.
  if (!keyspace.index_name.has_value() && keyspace.sort.empty()) return;
  request.limit = 1 + static_cast<int64_t>(values_->Below(7));
  SCOPED_TRACE("limit " + std::to_string(*request.limit));
  ExpectPages(Kind::kQuery, table, keyspace, request, whole.items, whole.items);
  if (values_->OneIn(2)) CompareFiltered(table, keyspace, whole.items, request);
  if (!keyspace.global) CompareFetch(table, keyspace, whole.items, std::move(request));
}

// A filter or COUNT does not reduce the consumed capacity.
void ModelReader::CompareFiltered(const ModelTable& table, const ModelKeyspace& keyspace,
                                  const std::vector<ModelItem>& order, ReadRequest request) {
  const Kind kind = request.expressions.key_condition.has_value() ? Kind::kQuery : Kind::kScan;
  request.expressions.filter = kFilter;
  if (values_->OneIn(3)) request.select = "COUNT";
  std::vector<ModelItem> passing;
  std::copy_if(order.begin(), order.end(), std::back_inserter(passing),
               [&](const ModelItem& entry) { return Passes(table, keyspace, request, entry); });
  SCOPED_TRACE("filtered " + request.select);
  ExpectPages(kind, table, keyspace, request, order, passing);
}

// All attributes of the items behind the entries of a local index, in the order of the entries.
void ModelReader::CompareFetch(const ModelTable& table, const ModelKeyspace& keyspace,
                               const std::vector<ModelItem>& order, ReadRequest request) {
  const Kind kind = request.expressions.key_condition.has_value() ? Kind::kQuery : Kind::kScan;
  request.select = "ALL_ATTRIBUTES";
  if (values_->OneIn(3)) request.expressions.filter = kFilter;
  std::vector<ModelItem> items;
  for (const ModelItem& entry : order) {
    if (Passes(table, keyspace, request, entry)) items.push_back(*table.Row(entry));
  }
  SCOPED_TRACE("fetched");
  ExpectPages(kind, table, keyspace, request, order, items);
}

void ModelReader::CompareRow(const ModelTable& table, const ModelItem& key) {
  const std::vector<std::string> names = table.KeyNames();
  ModelItem only_key;
  for (const std::string& name : names) only_key[name] = key.at(name);
  const std::optional<ModelItem> row = table.Row(key);
  GetItemRequest request = GetFrom(table.name(), values_->Written(only_key));
  request.consistent_read = values_->OneIn(2);
  request.return_consumed_capacity = values_->OneIn(5) ? "TOTAL" : "INDEXES";
  const absl::StatusOr<GetItemResult> got = engine_->Get(request);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->item.has_value(), row.has_value()) << Printed(only_key);
  if (row.has_value()) {
    ASSERT_EQ(Printed(Decode(got->item->view())), Printed(*row));
  }
  ASSERT_EQ(Told(got->capacity),
            Told(CapacityOfGet(row, request.consistent_read), request.return_consumed_capacity, table.name()));
}

void ModelReader::CompareTotals(const ModelTable& table) {
  const absl::StatusOr<TableDescription> description = engine_->Describe(table.name());
  ASSERT_TRUE(description.ok()) << description.status();
  const model::TableDescriptor& descriptor = description->descriptor;
  TotalsByName described = {{"", Told(description->totals)}};
  ASSERT_EQ(descriptor.local_indexes.size(), description->local_indexes.size());
  for (size_t i = 0; i < descriptor.local_indexes.size(); ++i) {
    AddTotals(table, descriptor.local_indexes[i], description->local_indexes[i], &described);
  }
  ASSERT_EQ(descriptor.global_indexes.size(), description->global_indexes.size());
  for (size_t i = 0; i < descriptor.global_indexes.size(); ++i) {
    AddTotals(table, descriptor.global_indexes[i], description->global_indexes[i], &described);
  }
  EXPECT_EQ(described, ExpectedTotals(table));
  Answer<std::vector<IndexStatus>> answer;
  (*engine_)->ListIndexStatus(table.name(), answer.Catch());
  const absl::StatusOr<std::vector<IndexStatus>> statuses = answer.Take();
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  TotalsByName listed = {{"", Told(TotalsOf(table.EntriesOf(table.keyspaces().front())))}};
  for (const IndexStatus& index : *statuses) AddTotals(table, index.descriptor, index.totals, &listed);
  EXPECT_EQ(listed, ExpectedTotals(table));
}

void ModelReader::CompareSome(const ModelTable& table, int queries) {
  const ModelKeyspace& keyspace = values_->Pick(table.keyspaces());
  if (!keyspace.filling) CompareQueries(table, keyspace, queries);
}

void ModelReader::CompareAll(const ModelTable& table, int queries) {
  for (const ModelKeyspace& keyspace : table.keyspaces()) {
    if (keyspace.filling) continue;
    SCOPED_TRACE(table.name() + "/" + keyspace.index_name.value_or(""));
    ASSERT_NO_FATAL_FAILURE(CompareScans(table, keyspace));
    ASSERT_NO_FATAL_FAILURE(CompareQueries(table, keyspace, queries));
  }
  for (const auto& [key, row] : table.rows()) ASSERT_NO_FATAL_FAILURE(CompareRow(table, row));
  CompareTotals(table);
}

}  // namespace armature::engine
