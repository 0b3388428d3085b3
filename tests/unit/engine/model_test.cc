// Random writes and reads of the engine against tables kept the slow and obvious way.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/model/naive_decimal.h"
#include "tests/unit/model/random_seed.h"

namespace armature::engine {
namespace {

constexpr char kTable[] = "model";
constexpr int kOperations = 3000;
constexpr int kQueriesPerKeyspace = 150;

model::TableDefinition Definition() {
  model::TableDefinition definition = PlainTable(kTable);
  definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}, {"l1", "S"}, {"l2", "B"}, {"p1", "S"}, {"p2", "N"},
                                      {"p3", "B"}, {"p4", "S"}, {"r1", "N"}, {"r2", "S"}, {"r3", "B"}, {"r4", "N"}};
  definition.local_indexes = {
      IndexOf("local_all", {{"pk", "HASH"}, {"l1", "RANGE"}}, "ALL"),
      IndexOf("local_include", {{"pk", "HASH"}, {"l2", "RANGE"}}, "INCLUDE", {"x"}),
  };
  definition.global_indexes = {
      IndexOf("wide",
              {{"p1", "HASH"},
               {"p2", "HASH"},
               {"p3", "HASH"},
               {"p4", "HASH"},
               {"r1", "RANGE"},
               {"r2", "RANGE"},
               {"r3", "RANGE"},
               {"r4", "RANGE"}},
              "ALL"),
      IndexOf("keys_only", {{"p2", "HASH"}}, "KEYS_ONLY"),
      IndexOf("include", {{"p1", "HASH"}, {"r1", "RANGE"}}, "INCLUDE", {"x", "y"}),
  };
  return definition;
}

std::vector<ModelKeyspace> Keyspaces() {
  const auto with_keys = [](std::set<std::string> names) {
    names.insert({"pk", "sk"});
    return names;
  };
  return {
      {std::nullopt, {"pk"}, {"sk"}, std::nullopt, false},
      {"local_all", {"pk"}, {"l1"}, std::nullopt, false},
      {"local_include", {"pk"}, {"l2"}, with_keys({"l2", "x"}), false},
      {"wide", {"p1", "p2", "p3", "p4"}, {"r1", "r2", "r3", "r4"}, std::nullopt, true},
      {"keys_only", {"p2"}, {}, with_keys({"p2"}), true},
      {"include", {"p1"}, {"r1"}, with_keys({"p1", "r1", "x", "y"}), true},
  };
}

std::vector<std::string> Sorted(const std::vector<ModelItem>& items) {
  std::vector<std::string> printed;
  for (const ModelItem& item : items) printed.push_back(Printed(item));
  std::sort(printed.begin(), printed.end());
  return printed;
}

class ModelTest : public ::testing::Test {
 protected:
  ModelTest() : rng_(PrintedTestSeed()), keyspaces_(Keyspaces()) {
    while (numbers_.size() < 40) {
      const model::RandomNumber number = model::MakeRandomNumber(rng_);
      const std::string plain = number.value.Plain();
      if (!texts_.contains(plain)) numbers_.push_back(plain);
      texts_[plain].insert({plain, number.text});
    }
  }

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng_); }
  bool OneIn(size_t n) { return Below(n) == 0; }

  Scalar Number(size_t of) { return {'N', numbers_[Below(of)]}; }
  Scalar Text(size_t of) {
    static const std::vector<std::string> kTexts = {"a", "ab", "abc", "b", "\xc3\xa4", "ab0", "B", "~", "a\x01", "aa"};
    return {'S', kTexts[Below(std::min(of, kTexts.size()))]};
  }
  Scalar Bytes(size_t of) {
    static const std::vector<std::string> kBytes = {
        std::string("\x00", 1),     std::string("\xff", 1), std::string("\x00\x00", 2), std::string("\x00\xff", 2),
        std::string("\xff\xff", 2), std::string("\x01", 1), std::string("\x00\x01", 2), std::string("\xff\x00\x01", 3)};
    return {'B', kBytes[Below(std::min(of, kBytes.size()))]};
  }

  ModelItem RandomKey() { return {{"pk", Text(6)}, {"sk", Number(40)}}; }
  ModelItem RandomItem() {
    ModelItem item = RandomKey();
    const auto maybe = [&](const std::string& name, const Scalar& value) {
      if (!OneIn(8)) item[name] = value;
    };
    maybe("l1", Text(10));
    maybe("l2", Bytes(8));
    maybe("p1", Text(2));
    maybe("p2", Number(3));
    maybe("p3", Bytes(2));
    maybe("p4", Text(1));
    maybe("r1", Number(6));
    maybe("r2", Text(4));
    maybe("r3", Bytes(8));
    maybe("r4", Number(40));
    maybe("x", OneIn(2) ? Number(40) : Text(10));
    if (OneIn(3)) item["y"] = {'S', std::string(Below(2000), 'y')};
    return item;
  }

  // The item on the wire as clients may write it: attributes in any order, numbers in any form.
  std::string Written(const ModelItem& item) {
    codec::Attributes attributes;
    for (const auto& [name, value] : item) {
      Scalar written = value;
      if (value.type == 'N') {
        const std::set<std::string>& forms = texts_.at(value.text);
        written.text = *std::next(forms.begin(), static_cast<ptrdiff_t>(Below(forms.size())));
      }
      attributes.emplace_back(name, written.Wire());
    }
    std::shuffle(attributes.begin(), attributes.end(), rng_);
    return codec::Item(attributes);
  }

  std::optional<ModelItem> Row(const Tuple& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

  // Sometimes with the condition that there is no item.
  bool MaybeMakeConditional(WriteRequest* request) {
    if (!OneIn(4)) return false;
    request->expressions.condition = "attribute_not_exists(pk)";
    request->return_values_on_condition_check_failure = "ALL_OLD";
    return true;
  }

  // Holds the answer of a write against the row as it was, what the row should be now, and what should be given back.
  void CheckAnswer(const absl::StatusOr<WriteResult>& result, bool conditional, const Tuple& key,
                   const std::optional<ModelItem>& now, const ModelItem& returned) {
    const std::optional<ModelItem> old = Row(key);
    if (conditional && old.has_value()) {
      ASSERT_EQ(ErrorNameOf(result.status()), "ConditionalCheckFailedException");
      ASSERT_EQ(Printed(Decode(GetApiError(result.status())->item)), Printed(*old));
      return;
    }
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_GE(result->change_sequence, last_sequence_);
    last_sequence_ = result->change_sequence;
    ASSERT_EQ(result->attributes.has_value(), !returned.empty());
    if (result->attributes.has_value()) {
      ASSERT_EQ(Printed(Decode(result->attributes->view())), Printed(returned));
    }
    if (now.has_value()) {
      rows_[key] = *now;
    } else {
      rows_.erase(key);
    }
  }

  void PutOrDelete(bool put) {
    const ModelItem item = put ? RandomItem() : RandomKey();
    const Tuple key = Pick(item, {"pk", "sk"});
    WriteRequest request = WriteTo(kTable, Written(item));
    const bool returns_old = OneIn(3);
    if (returns_old) request.return_values = "ALL_OLD";
    const bool conditional = MaybeMakeConditional(&request);
    const absl::StatusOr<WriteResult> result = put ? engine_.Put(request) : engine_.Delete(request);
    CheckAnswer(result, conditional, key, put ? std::optional(item) : std::nullopt,
                returns_old ? Row(key).value_or(ModelItem()) : ModelItem());
  }

  // An update as an expression, and what it does to a row of the model.
  struct ModelUpdate {
    std::map<std::string, std::vector<std::string>> clauses;  // "SET" -> {"#x = :x", ...}
    StringMap<std::string> names;
    ModelItem values;
    std::set<std::string> targets;
    ModelItem now;

    void Act(const std::string& clause, const std::string& target, const std::string& operand) {
      clauses[clause].push_back("#" + target + operand);
      names["#" + target] = target;
      targets.insert(target);
    }
    ModelItem Part(const ModelItem& item) const {
      ModelItem part;
      for (const std::string& target : targets) {
        if (item.contains(target)) part[target] = item.at(target);
      }
      return part;
    }
    std::string Expression() const {
      std::string text;
      for (const auto& [clause, actions] : clauses) {
        text += (text.empty() ? "" : " ") + clause;
        for (size_t i = 0; i < actions.size(); ++i) text += (i == 0 ? " " : ", ") + actions[i];
      }
      return text;
    }
  };

  ModelUpdate RandomUpdate(const ModelItem& old) {
    ModelUpdate update;
    update.now = old;
    const ModelItem fresh = RandomItem();
    for (const char* const name : {"l1", "l2", "p1", "p2", "p3", "p4", "r1", "r2", "r3", "r4", "x", "y"}) {
      if (!OneIn(5)) continue;
      if (fresh.contains(name)) {
        update.Act("SET", name, std::string(" = :") + name);
        update.values[std::string(":") + name] = fresh.at(name);
        update.now[name] = fresh.at(name);
      } else {
        update.Act("REMOVE", name, "");
        update.now.erase(name);
      }
    }
    if (OneIn(3)) {  // a copy of what was there before
      const Scalar otherwise = {'S', "none"};
      update.Act("SET", "copy", " = if_not_exists(x, :otherwise)");
      update.values[":otherwise"] = otherwise;
      update.now["copy"] = old.contains("x") ? old.at("x") : otherwise;
    }
    if (OneIn(3)) {
      const int step = static_cast<int>(Below(9)) - 4;
      update.Act("ADD", "count", " :step");
      update.values[":step"] = {'N', std::to_string(step)};
      const int count = old.contains("count") ? std::stoi(old.at("count").text) : 0;
      update.now["count"] = {'N', std::to_string(count + step)};
    }
    return update;
  }

  void Update() {
    const ModelItem key_item = RandomKey();
    const Tuple key = Pick(key_item, {"pk", "sk"});
    const std::optional<ModelItem> old = Row(key);
    const ModelUpdate update = RandomUpdate(old.value_or(ModelItem()));
    WriteRequest request = WriteTo(kTable, Written(key_item));
    if (!update.targets.empty()) {
      request.expressions.update = update.Expression();
      request.expressions.names = update.names;
    }
    if (!update.values.empty()) request.expressions.values_wire = WireOf(update.values);
    const bool only_removes = update.clauses.size() == 1 && update.clauses.contains("REMOVE");
    std::optional<ModelItem> now;
    if (old.has_value() || !only_removes) {
      now = update.now;
      now->insert(key_item.begin(), key_item.end());
    }
    static const std::vector<std::string> kModes = {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"};
    request.return_values = kModes[Below(kModes.size())];
    ModelItem returned;
    if (request.return_values.ends_with("_OLD")) returned = old.value_or(ModelItem());
    if (request.return_values.ends_with("_NEW")) returned = now.value_or(ModelItem());
    if (request.return_values.starts_with("UPDATED_")) returned = update.Part(returned);
    const bool conditional = MaybeMakeConditional(&request);
    SCOPED_TRACE(request.return_values + " of " + update.Expression());
    CheckAnswer(engine_.Update(request), conditional, key, now, returned);
  }

  void WriteOnce() {
    const size_t kind = Below(6);
    if (kind < 2) return Update();
    PutOrDelete(/*put=*/kind < 5);
  }

  std::vector<ModelItem> EntriesOf(const ModelKeyspace& keyspace) const {
    std::vector<ModelItem> entries;
    for (const auto& [key, item] : rows_) {
      if (std::optional<ModelItem> entry = keyspace.EntryOf(item)) entries.push_back(*std::move(entry));
    }
    return entries;
  }

  ReadRequest ReadOf(const ModelKeyspace& keyspace) const {
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = keyspace.index_name;
    request.at_least_sequence = last_sequence_;
    request.consistent_read = !keyspace.global;
    return request;
  }

  // All pages of a request, in their order.
  template <class ReadPage>
  std::vector<ModelItem> AllPages(ReadRequest request, ReadPage read) {
    std::vector<ModelItem> items;
    while (true) {
      absl::StatusOr<Page> page = read(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return items;
      EXPECT_LE(page->result.scanned_count, request.limit.value_or(INT64_MAX));
      EXPECT_EQ(page->result.count, static_cast<int64_t>(page->items.size()));
      for (const std::string& item : page->items) items.push_back(Decode(item));
      if (!page->result.last_evaluated_key.has_value()) return items;
      request.exclusive_start_key_wire = *page->result.last_evaluated_key;
    }
  }
  std::vector<ModelItem> AllOfScan(const ReadRequest& request) {
    return AllPages(request, [this](const ReadRequest& page) { return engine_.Scan(page); });
  }
  std::vector<ModelItem> AllOfQuery(const ReadRequest& request) {
    return AllPages(request, [this](const ReadRequest& page) { return engine_.Query(page); });
  }

  void CompareScans(const ModelKeyspace& keyspace) {
    const std::vector<std::string> expected = Sorted(EntriesOf(keyspace));
    ReadRequest request = ReadOf(keyspace);
    const std::vector<ModelItem> whole = AllOfScan(request);
    EXPECT_EQ(Sorted(whole), expected);
    request.limit = 1 + static_cast<int64_t>(Below(20));
    EXPECT_EQ(AllOfScan(request), whole) << "limit " << *request.limit;
    std::vector<ModelItem> segments;
    request.total_segments = 1 + static_cast<int64_t>(Below(5));
    for (int64_t segment = 0; segment < *request.total_segments; ++segment) {
      request.segment = segment;
      const std::vector<ModelItem> part = AllOfScan(request);
      segments.insert(segments.end(), part.begin(), part.end());
    }
    EXPECT_EQ(segments, whole) << *request.total_segments << " segments";
  }

  ModelCondition RandomCondition(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries) {
    // Values of entries, so that queries find something; of two, so that sort values are not all of one item.
    const ModelItem& one = entries[Below(entries.size())];
    const ModelItem& other = entries[Below(entries.size())];
    ModelCondition condition;
    condition.partition = Pick(one, keyspace.partition);
    const size_t equal = Below(keyspace.sort.size() + 1);
    for (size_t i = 0; i < equal; ++i) condition.sort_equal.push_back(one.at(keyspace.sort[i]));
    if (equal == keyspace.sort.size()) return condition;
    const std::string& name = keyspace.sort[equal];
    static const std::vector<std::string> kOperators = {"", "<", "<=", ">", ">=", "=", "BETWEEN", "begins_with"};
    condition.op = kOperators[Below(kOperators.size())];
    condition.first = other.at(name);
    condition.second = one.at(name);
    if (condition.op == "begins_with") {
      if (condition.first.type == 'N') condition.op = ">=";
      if (condition.first.type == 'B') condition.first.text.resize(1);
      if (condition.first.type == 'S' && condition.first.text.starts_with('a')) condition.first.text.resize(1);
    }
    if (condition.second < condition.first) std::swap(condition.first, condition.second);
    return condition;
  }

  static void Express(const ModelKeyspace& keyspace, const ModelCondition& condition, ReadRequest* request) {
    std::string text;
    ModelItem values;
    StringMap<std::string> names;
    const auto name_of = [&](const std::string& attribute) {
      names["#" + attribute] = attribute;
      return "#" + attribute;
    };
    const auto value_of = [&](const std::string& placeholder, const Scalar& value) {
      values[":" + placeholder] = value;
      return ":" + placeholder;
    };
    const auto add = [&text](const std::string& term) { text += (text.empty() ? "" : " AND ") + term; };
    for (size_t i = 0; i < keyspace.partition.size(); ++i) {
      add(name_of(keyspace.partition[i]) + " = " + value_of(keyspace.partition[i], condition.partition[i]));
    }
    for (size_t i = 0; i < condition.sort_equal.size(); ++i) {
      add(name_of(keyspace.sort[i]) + " = " + value_of(keyspace.sort[i], condition.sort_equal[i]));
    }
    if (!condition.op.empty()) {
      const std::string name = name_of(keyspace.sort[condition.sort_equal.size()]);
      const std::string first = value_of("first", condition.first);
      if (condition.op == "BETWEEN") {
        add(name + " BETWEEN " + first + " AND " + value_of("second", condition.second));
      } else if (condition.op == "begins_with") {
        add("begins_with(" + name + ", " + first + ")");
      } else {
        add(name + " " + condition.op + " " + first);
      }
    }
    request->expressions.key_condition = text;
    request->expressions.names = std::move(names);
    request->expressions.values_wire = WireOf(values);
  }

  void CompareQuery(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries) {
    const ModelCondition condition = RandomCondition(keyspace, entries);
    std::vector<ModelItem> expected;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(expected),
                 [&](const ModelItem& entry) { return condition.Holds(keyspace, entry); });
    found_ += expected.size();
    ReadRequest request = ReadOf(keyspace);
    Express(keyspace, condition, &request);
    request.scan_index_forward = OneIn(2);
    SCOPED_TRACE(keyspace.index_name.value_or("table") + ": " + *request.expressions.key_condition + " with " +
                 Printed(Decode(*request.expressions.values_wire)) + (request.scan_index_forward ? "" : "backwards"));
    const std::vector<ModelItem> whole = AllOfQuery(request);
    ASSERT_EQ(Sorted(whole), Sorted(expected));
    for (size_t i = 1; i < whole.size(); ++i) {
      const Tuple before = Pick(whole[i - 1], keyspace.sort);
      const Tuple after = Pick(whole[i], keyspace.sort);
      ASSERT_TRUE(request.scan_index_forward ? before <= after : before >= after)
          << Printed(whole[i - 1]) << "stands before " << Printed(whole[i]);
    }
    request.limit = 1 + static_cast<int64_t>(Below(7));
    ASSERT_EQ(AllOfQuery(request), whole) << "limit " << *request.limit;
    if (!keyspace.global) CompareFetch(keyspace, whole, std::move(request));
  }

  // The items behind the entries of a local index: all of each, in the order of the entries.
  void CompareFetch(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries, ReadRequest request) {
    request.select = "ALL_ATTRIBUTES";
    const std::vector<ModelItem> items = AllOfQuery(request);
    ASSERT_EQ(items.size(), entries.size());
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(keyspace.EntryOf(items[i]), entries[i]);
      const bool is_there =
          std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row.second == items[i]; });
      ASSERT_TRUE(is_there) << Printed(items[i]);
    }
  }

  void CompareTotals() {
    const absl::StatusOr<TableDescription> description = engine_.Describe(kTable);
    ASSERT_TRUE(description.ok()) << description.status();
    std::vector<Totals> totals = {description->totals};
    totals.insert(totals.end(), description->local_indexes.begin(), description->local_indexes.end());
    totals.insert(totals.end(), description->global_indexes.begin(), description->global_indexes.end());
    ASSERT_EQ(totals.size(), keyspaces_.size());
    for (size_t i = 0; i < totals.size(); ++i) {
      SCOPED_TRACE(keyspaces_[i].index_name.value_or("table"));
      const std::vector<ModelItem> entries = EntriesOf(keyspaces_[i]);
      size_t bytes = 0;
      for (const ModelItem& entry : entries) bytes += ApiSizeOf(entry) + 100;  // documented overhead of a row
      EXPECT_EQ(totals[i].item_count, static_cast<int64_t>(entries.size()));
      EXPECT_EQ(totals[i].size_bytes, static_cast<int64_t>(bytes));
    }
  }

  void CompareAll() {
    for (const ModelKeyspace& keyspace : keyspaces_) {
      SCOPED_TRACE(keyspace.index_name.value_or("table"));
      CompareScans(keyspace);
      const std::vector<ModelItem> entries = EntriesOf(keyspace);
      ASSERT_FALSE(entries.empty());
      found_ = 0;
      for (int i = 0; i < kQueriesPerKeyspace; ++i) {
        ASSERT_NO_FATAL_FAILURE(CompareQuery(keyspace, entries));
      }
      EXPECT_GT(found_, size_t{kQueriesPerKeyspace}) << "the queries hardly find anything";
    }
    CompareTotals();
  }

  std::mt19937_64 rng_;
  const std::vector<ModelKeyspace> keyspaces_;
  std::vector<std::string> numbers_;                    // plain, all different
  std::map<std::string, std::set<std::string>> texts_;  // all ways to write them
  TestEngine engine_;
  std::map<Tuple, ModelItem> rows_;
  uint64_t last_sequence_ = 0;
  size_t found_ = 0;
};

TEST_F(ModelTest, AgreesWithTheEngineBeforeAndAfterRestarts) {
  ASSERT_TRUE(engine_.CreateTable(Definition()).ok());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kOperations / 2; ++i) {
      ASSERT_NO_FATAL_FAILURE(WriteOnce()) << "operation " << i;
    }
    if (round == 0) engine_.Reopen();
    ASSERT_NO_FATAL_FAILURE(CompareAll()) << "round " << round;
  }
  engine_.Reopen();
  ASSERT_NO_FATAL_FAILURE(CompareAll()) << "reopened at rest";
  for (const auto& [key, item] : rows_) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, WireOf({{"pk", key[0]}, {"sk", key[1]}})));
    ASSERT_TRUE(got.ok() && got->item.has_value()) << got.status();
    ASSERT_EQ(Printed(Decode(got->item->view())), Printed(item));
  }
}

}  // namespace
}  // namespace armature::engine
