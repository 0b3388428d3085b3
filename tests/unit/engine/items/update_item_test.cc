// UpdateItem through the engine: checks and their order, return values, indexes, and which writes take place.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "engine/items/validation_layer.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/storage/model/printed_item.h"

namespace armature::engine::update_item_test {

using codec::L;
using codec::M;
using codec::N;
using codec::S;
using codec::Ss;

constexpr char kTable[] = "things";
constexpr char kIndexed[] = "indexed";
constexpr char kInvalid[] = "One or more parameter values were invalid: ";

// An update of the item with key ("a", 1) of kTable.
WriteRequest UpdateOf(std::string expression, codec::Attributes values = {}, std::string table = kTable) {
  WriteRequest request = WriteTo(std::move(table), PlainItem("a", "1"));
  request.expressions.update = std::move(expression);
  if (!values.empty()) request.expressions.values_wire = codec::Item(values);
  return request;
}

std::string TextOf(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  if (status.ok()) return "OK";
  return error.has_value() ? error->message : status.ToString();
}

std::string Attributes(const absl::StatusOr<WriteResult>& result) {
  if (!result.ok()) return result.status().ToString();
  return result->attributes.has_value() ? model::PrintedItem(model::ItemView(result->attributes->view())) : "absent";
}

class UpdateItemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status created = engine_.CreateTable(PlainTable(kTable));
    ASSERT_TRUE(created.ok()) << created;
  }

  // A table with a local index on "l" (S) and global ones on "g" (S) and "n" (N), and on "p" (B) and "r" (S).
  void CreateIndexed() {
    model::TableDefinition definition = PlainTable(kIndexed);
    for (const char* const name : {"l", "g", "r"}) definition.attribute_definitions.push_back({name, "S"});
    definition.attribute_definitions.push_back({"n", "N"});
    definition.attribute_definitions.push_back({"p", "B"});
    definition.local_indexes = {IndexOf("local", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
    definition.global_indexes = {IndexOf("by_n", {{"g", "HASH"}, {"n", "RANGE"}}, "KEYS_ONLY"),
                                 IndexOf("also_by_n", {{"n", "HASH"}}, "KEYS_ONLY"),
                                 IndexOf("by_p", {{"p", "HASH"}, {"r", "RANGE"}}, "ALL")};
    const absl::Status created = engine_.CreateTable(definition);
    ASSERT_TRUE(created.ok()) << created;
  }

  std::string Get(const char* table = kTable) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(table, PlainItem("a", "1")));
    if (!got.ok()) return got.status().ToString();
    return got->item.has_value() ? model::PrintedItem(model::ItemView(got->item->view())) : "nothing";
  }
  void Put(codec::Attributes more, const char* table = kTable) {
    const absl::Status put = engine_.Put(WriteTo(table, PlainItem("a", "1", std::move(more)))).status();
    ASSERT_TRUE(put.ok()) << put;
  }
  std::string Error(WriteRequest request) { return TextOf(engine_.Update(std::move(request)).status()); }
  uint64_t UnitsWritten() { return engine_.database().commits().counters().units; }

  TestEngine engine_;
  uint64_t sequence_ = 0;  // of the last update that was checked
};

TEST_F(UpdateItemTest, CreatesAndChanges) {
  ASSERT_TRUE(engine_.Update(UpdateOf("SET x = :x", {{":x", S("one")}})).ok());
  EXPECT_EQ(Get(), "pk=S:a, sk=N:1, x=S:one");
  ASSERT_TRUE(
      engine_.Update(UpdateOf("SET c = :n ADD t :t REMOVE x", {{":n", N("1.50")}, {":t", Ss({"b", "a"})}})).ok());
  EXPECT_EQ(Get(), "c=N:1.5, pk=S:a, sk=N:1, t=<a, b>");
  ASSERT_TRUE(engine_.Update(UpdateOf("SET c = c + :n", {{":n", N("0.5")}})).ok());
  EXPECT_EQ(Get(), "c=N:2, pk=S:a, sk=N:1, t=<a, b>");
  EXPECT_EQ(engine_.Describe(kTable)->totals.item_count, 1);
}

TEST_F(UpdateItemTest, WithoutExpressionCreatesABareItemAndLeavesOneAlone) {
  WriteRequest bare = WriteTo(kTable, PlainItem("a", "1"));
  bare.return_values = "UPDATED_NEW";
  EXPECT_EQ(Attributes(engine_.Update(bare)), "absent");
  EXPECT_EQ(Get(), "pk=S:a, sk=N:1");
  Put({{"x", S("one")}});
  bare.return_values = "ALL_NEW";
  EXPECT_EQ(Attributes(engine_.Update(bare)), "pk=S:a, sk=N:1, x=S:one");
  EXPECT_EQ(Get(), "pk=S:a, sk=N:1, x=S:one");
}

TEST_F(UpdateItemTest, OfNothingButRemovalsCreatesNothing) {
  for (const char* const mode : {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"}) {
    WriteRequest remove = UpdateOf("REMOVE x, y.z DELETE t :t", {{":t", Ss({"a"})}});
    remove.return_values = mode;
    remove.return_consumed_capacity = "TOTAL";
    const absl::StatusOr<WriteResult> result = engine_.Update(remove);
    EXPECT_EQ(Attributes(result), "absent") << mode;
    EXPECT_EQ(result->capacity->total, 1);
  }
  EXPECT_EQ(Get(), "nothing");
  EXPECT_EQ(UnitsWritten(), 0u);
}

TEST_F(UpdateItemTest, GivesBackWhatReturnValuesAsksFor) {
  const struct {
    const char* mode;
    std::string attributes;
  } kCases[] = {
      {"", "absent"},
      {"NONE", "absent"},
      {"ALL_OLD", "c=N:1, l=[S:x, S:y, S:z], m={j=N:1, k=N:2}, pk=S:a, sk=N:1, u=S:kept, w=S:old"},
      {"UPDATED_OLD", "c=N:1, l=[S:x, S:y], m={k=N:2}, w=S:old"},
      // An element that moved into the place of the removed one is shown. The appended element is not, because its
      // index differs from the request's.
      {"ALL_NEW", "c=N:2, f=S:new, l=[S:new, S:z, S:new], m={j=N:1, k=S:new}, pk=S:a, sk=N:1, u=S:kept"},
      {"UPDATED_NEW", "c=N:2, f=S:new, l=[S:new, S:z], m={k=S:new}"},
  };
  for (const auto& c : kCases) {
    Put({{"c", N("1")},
         {"l", L({S("x"), S("y"), S("z")})},
         {"m", M({{"j", N("1")}, {"k", N("2")}})},
         {"u", S("kept")},
         {"w", S("old")}});
    WriteRequest request = UpdateOf("SET m.k = :new, l[0] = :new, l[9] = :new, f = :new REMOVE l[1], w ADD c :one",
                                    {{":new", S("new")}, {":one", N("1")}});
    request.return_values = c.mode;
    EXPECT_EQ(Attributes(engine_.Update(request)), c.attributes) << c.mode;
  }
}

TEST_F(UpdateItemTest, GivesBackNothingOfAnItemThatWasNotThere) {
  const auto attributes = [&](const char* mode) {
    EXPECT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("a", "1"))).ok());
    WriteRequest request = UpdateOf("SET x = :x REMOVE y", {{":x", S("one")}});
    request.return_values = mode;
    return Attributes(engine_.Update(request));
  };
  EXPECT_EQ(attributes("ALL_OLD"), "absent");
  EXPECT_EQ(attributes("UPDATED_OLD"), "absent");
  EXPECT_EQ(attributes("ALL_NEW"), "pk=S:a, sk=N:1, x=S:one");
  EXPECT_EQ(attributes("UPDATED_NEW"), "x=S:one");
  WriteRequest remove = UpdateOf("REMOVE x");
  remove.return_values = "UPDATED_NEW";
  EXPECT_EQ(Attributes(engine_.Update(remove)), "absent");
  remove.expressions.update = "REMOVE y";
  remove.return_values = "UPDATED_OLD";
  EXPECT_EQ(Attributes(engine_.Update(remove)), "absent");
}

TEST_F(UpdateItemTest, OverwritingWithTheSameStillCountsAsUpdated) {
  Put({{"x", S("one")}});
  WriteRequest request = UpdateOf("SET x = :x", {{":x", S("one")}});
  request.return_values = "UPDATED_NEW";
  EXPECT_EQ(Attributes(engine_.Update(request)), "x=S:one");
}

TEST_F(UpdateItemTest, ConditionIsJudgedOnTheItemBefore) {
  WriteRequest request = UpdateOf("SET c = :two", {{":one", N("1")}, {":two", N("2")}});
  request.expressions.condition = "c = :one";
  request.return_values_on_condition_check_failure = "ALL_OLD";
  absl::Status failed = engine_.Update(request).status();
  EXPECT_EQ(ErrorNameOf(failed), "ConditionalCheckFailedException");
  EXPECT_EQ(GetApiError(failed)->item, "");
  EXPECT_EQ(Get(), "nothing") << "a failed condition left a ghost";
  Put({{"c", N("1")}});
  EXPECT_TRUE(engine_.Update(request).ok());
  EXPECT_EQ(Get(), "c=N:2, pk=S:a, sk=N:1");
  failed = engine_.Update(request).status();
  EXPECT_EQ(TextOf(failed), "The conditional request failed");
  EXPECT_EQ(model::PrintedItem(model::ItemView(GetApiError(failed)->item)), "c=N:2, pk=S:a, sk=N:1");
  // The condition is checked before anything that depends on the item.
  request.expressions.update = "SET c = absent + :two";
  EXPECT_EQ(ErrorNameOf(engine_.Update(request).status()), "ConditionalCheckFailedException");
}

TEST_F(UpdateItemTest, ChecksComeInTheDocumentedOrder) {
  // Each request has all remaining faults. The first one is reported.
  WriteRequest request = UpdateOf("SET pk = :v", {{":v", S("x")}}, "absent_table");
  request.item_wire = codec::Item({{"pk", N("dog")}});
  request.expressions.condition = "broken =";
  request.expressions.legacy.attribute_updates = {{"x", {}, "DELETE"}};
  request.expressions.legacy.expected = {{"x", {}, false, "", {}}};
  request.return_values = "SOME";
  EXPECT_TRUE(TextOf(engine_.Update(request).status())
                  .starts_with("1 validation error detected: Failed to satisfy constraint: "));
  request.return_values = "";
  EXPECT_EQ(
      Error(request),
      Cat(kEnvelope,
          "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
          "{AttributeUpdates, Expected} Expression parameters: {UpdateExpression, ConditionExpression}"));
  request.expressions.legacy = {};
  EXPECT_EQ(Error(request), Cat(kEnvelope, "The parameter cannot be converted to a numeric value: dog"));
  request.item_wire = codec::Item({{"pk", N("1")}});
  request.expressions.update = "SET pk =";
  EXPECT_EQ(Error(request), Cat(kEnvelope, "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"=\""));
  request.expressions.update = "SET pk = :v";
  EXPECT_EQ(Error(request), Cat(kEnvelope, "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"=\""));
  request.expressions.condition = "x = :v";
  EXPECT_EQ(Error(request), "Requested resource not found");
  request.table_name = kTable;
  EXPECT_EQ(Error(request), "The provided key element does not match the schema");
  request.item_wire = PlainItem("a", "1");
  EXPECT_EQ(Error(request), std::string(kInvalid) + "Cannot update attribute pk. This attribute is part of the key");
  request.expressions.update = "SET y = x + :v";
  EXPECT_EQ(Error(request),
            Cat(kEnvelope,
                "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, "
                "operand type: S"));
  request.expressions.update = "SET y = x REMOVE z.z";
  EXPECT_EQ(Error(request), "The conditional request failed");
  request.expressions.condition = "x <> :v";
  EXPECT_EQ(Error(request), "The provided expression refers to an attribute that does not exist in the item");
  EXPECT_EQ(UnitsWritten(), 0u);
}

TEST_F(UpdateItemTest, AttributeUpdatesAreApplied) {
  Put({{"l", codec::L({N("1")})}, {"n", N("1")}, {"s", codec::Ss({"a", "b"})}, {"t", S("x")}});
  WriteRequest request = WriteTo(kTable, PlainItem("a", "1"));
  std::vector<LegacyUpdate>& updates = request.expressions.legacy.attribute_updates.emplace();
  updates = {{"l", codec::L({N("2")}), "ADD"},
             {"m", codec::L({N("3")}), "ADD"},
             {"n", N("2.0"), "ADD"},
             {"s", codec::Ss({"a", "b"}), "DELETE"},
             {"t", {}, "DELETE"},
             {"u.v", S("y"), ""}};
  EXPECT_EQ(Error(request), "OK");
  EXPECT_EQ(Get(), "l=[N:1, N:2], m=[N:3], n=N:3, pk=S:a, sk=N:1, u.v=S:y");
  for (const auto& update : {LegacyUpdate{"n", codec::L({}), "ADD"}, LegacyUpdate{"n", codec::Ns({"3"}), "DELETE"}}) {
    updates = {update};
    EXPECT_EQ(Error(request), "Type mismatch for attribute to update");
  }
  updates = {{"sk", N("1"), "PUT"}};
  EXPECT_EQ(Error(request), std::string(kInvalid) + "Cannot update attribute sk. This attribute is part of the key");
}

TEST_F(UpdateItemTest, KeyAttributesStay) {
  Put({});
  const std::string sk_text = std::string(kInvalid) + "Cannot update attribute sk. This attribute is part of the key";
  EXPECT_EQ(Error(UpdateOf("SET x = :n, sk = :n", {{":n", N("1")}})), sk_text) << "the same value";
  EXPECT_EQ(Error(UpdateOf("REMOVE sk")), sk_text);
  EXPECT_EQ(Error(UpdateOf("ADD sk :n", {{":n", N("1")}})), sk_text);
  EXPECT_EQ(Error(UpdateOf("SET pk.x = :n", {{":n", N("1")}})),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk");
  EXPECT_EQ(Error(UpdateOf("SET x = sk + :n", {{":n", N("1")}})), "OK") << "keys may be read";
  EXPECT_EQ(Get(), "pk=S:a, sk=N:1, x=N:2");
}

TEST_F(UpdateItemTest, ConstantsForIndexKeysMustHaveTheirType) {
  CreateIndexed();
  const auto error = [&](std::string expression, std::string value) {
    WriteRequest request = UpdateOf(std::move(expression), {{":v", std::move(value)}}, kIndexed);
    request.expressions.condition = "attribute_exists(pk)";  // false, but never evaluated
    return Error(std::move(request));
  };
  EXPECT_EQ(error("SET l = :v", N("1")),
            std::string(kInvalid) + "Type mismatch for Index Key l Expected: S Actual: N IndexName: local");
  EXPECT_EQ(error("ADD g :v", N("1")),
            std::string(kInvalid) + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by_n");
  EXPECT_EQ(error("SET n = :v", S("1")),
            std::string(kInvalid) + "Type mismatch for Index Key n Expected: N Actual: S IndexName: also_by_n")
      << "the alphabetically first index";
  EXPECT_EQ(error("SET g.x = :v", S("1")),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g");
  EXPECT_EQ(error("SET l[0] = :v", S("1")),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: l");
  EXPECT_EQ(error("SET l = :v", S("right")), "The conditional request failed");
}

TEST_F(UpdateItemTest, WhatIsComputedForIndexKeysMustBeFitToBeOne) {
  CreateIndexed();
  Put({{"x", N("1")},
       {"t", S("text")},
       {"blank", S("")},
       {"bytes", codec::B("")},
       {"lengthy", S(std::string(1025, 'x'))}},
      kIndexed);
  constexpr char kType[] = "The update expression attempted to update the secondary index key to unsupported type";
  constexpr char kSize[] =
      "The update expression attempted to update the secondary index key beyond allowed size limits";
  const auto empty = [](const char* word) {
    return std::string(
               "One or more parameter values are not valid. The update expression attempted to update a secondary "
               "index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an "
               "empty ") +
           word + " value.";
  };
  const auto error = [&](std::string expression, codec::Attributes values = {}) {
    return Error(UpdateOf(std::move(expression), std::move(values), kIndexed));
  };
  EXPECT_EQ(error("SET g = x"), kType);
  EXPECT_EQ(error("SET l = if_not_exists(x, :v)", {{":v", S("v")}}), kType);
  EXPECT_EQ(error("SET g = blank"), empty("string"));
  EXPECT_EQ(error("SET p = bytes"), empty("binary"));
  EXPECT_EQ(error("SET l = :v", {{":v", S("")}}), empty("string"));
  EXPECT_EQ(error("SET l = :v", {{":v", S(std::string(1025, 'l'))}}), kSize);
  EXPECT_EQ(error("SET r = lengthy"), kSize) << "although p is missing";
  EXPECT_EQ(error("SET g = :v", {{":v", S(std::string(2049, 'g'))}}), kSize);
  EXPECT_EQ(error("SET g = :v, l = t, n = x", {{":v", S(std::string(2048, 'g'))}}), "OK");
  EXPECT_EQ(error("REMOVE g, l, n"), "OK");
}

TEST_F(UpdateItemTest, IndexesFollow) {
  CreateIndexed();
  const auto index = [&](const char* name, uint64_t sequence) {
    ReadRequest scan;
    scan.table_name = kIndexed;
    scan.index_name = name;
    scan.at_least_sequence = sequence;
    const absl::StatusOr<Page> page = engine_.Scan(scan);
    if (!page.ok()) return page.status().ToString();
    std::string text;
    for (const std::string& item : page->items) text += "(" + model::PrintedItem(model::ItemView(item)) + ")";
    return text;
  };
  const auto update = [&](std::string expression, codec::Attributes values) -> std::vector<double> {
    WriteRequest request = UpdateOf(std::move(expression), std::move(values), kIndexed);
    request.return_consumed_capacity = "INDEXES";
    const absl::StatusOr<WriteResult> result = engine_.Update(request);
    if (!result.ok()) return {};
    sequence_ = result->change_sequence;
    ConsumedCapacity capacity = *result->capacity;
    return {capacity.total, *capacity.table, capacity.local_indexes["local"], capacity.global_indexes["by_n"]};
  };
  using Units = std::vector<double>;
  EXPECT_EQ(update("SET g = :g, l = :l, x = :l", {{":g", S("g")}, {":l", S("l")}}), (Units{2, 1, 1, 0}));
  EXPECT_EQ(index("local", sequence_), "(g=S:g, l=S:l, pk=S:a, sk=N:1, x=S:l)");
  EXPECT_EQ(index("by_n", sequence_), "");
  EXPECT_EQ(update("ADD n :n", {{":n", N("7")}}), (Units{4, 1, 1, 1})) << "and also_by_n";
  EXPECT_EQ(index("by_n", sequence_), "(g=S:g, n=N:7, pk=S:a, sk=N:1)");
  EXPECT_EQ(update("SET x = :x", {{":x", S("seen by the local one only")}}), (Units{2, 1, 1, 0}));
  EXPECT_EQ(update("SET n = n - :n", {{":n", N("10")}}), (Units{6, 1, 1, 2})) << "moved";
  EXPECT_EQ(index("by_n", sequence_), "(g=S:g, n=N:-3, pk=S:a, sk=N:1)");
  EXPECT_EQ(update("REMOVE g, l", {}), (Units{3, 1, 1, 1}));
  EXPECT_EQ(index("by_n", sequence_), "");
  EXPECT_EQ(index("local", sequence_), "");
}

TEST_F(UpdateItemTest, ThatChangesNothingWritesNothingAndIsCharged) {
  CreateIndexed();
  Put({{"g", S("g")}, {"n", N("1")}, {"t", Ss({"a", "b"})}, {"x", S(std::string(3000, 'x'))}}, kIndexed);
  const std::string before = Get(kIndexed);
  const uint64_t units = UnitsWritten();
  const uint64_t log = engine_.database().change_log().watermark().value();
  const struct {
    const char* expression;
    codec::Attributes values;
  } kCases[] = {
      {"SET n = :v, g = g", {{":v", N("1.00")}}},
      {"SET n = n + :v", {{":v", N("0")}}},
      {"ADD t :v", {{":v", Ss({"b", "a"})}}},
      {"DELETE t :v", {{":v", Ss({"c"})}}},
      {"REMOVE absent", {}},
      {"SET x = if_not_exists(x, :v)", {{":v", N("0")}}},
  };
  for (const auto& c : kCases) {
    WriteRequest request = UpdateOf(c.expression, c.values, kIndexed);
    request.return_consumed_capacity = "INDEXES";
    const absl::StatusOr<WriteResult> result = engine_.Update(request);
    ASSERT_TRUE(result.ok()) << c.expression << result.status();
    EXPECT_EQ(result->capacity->total, 3);
    EXPECT_TRUE(result->capacity->global_indexes.empty() && result->capacity->local_indexes.empty());
  }
  EXPECT_EQ(UnitsWritten(), units);
  EXPECT_EQ(engine_.database().change_log().watermark().value(), log);
  EXPECT_EQ(Get(kIndexed), before);
}

TEST_F(UpdateItemTest, ResultMustNotBeTooLarge) {
  constexpr char kTooLarge[] = "Item size to update has exceeded the maximum allowed size";
  const std::string big(200'000, 'x');
  Put({{"x", S(big)}});
  EXPECT_EQ(Error(UpdateOf("SET y = x")), "OK");
  EXPECT_EQ(Error(UpdateOf("SET z = :z", {{":z", S(std::string(9'600, 'z'))}})), kTooLarge);
  // pk, "a", sk and 1 take seven bytes; the names x, y and z take three.
  EXPECT_EQ(Error(UpdateOf("SET z = :z", {{":z", S(std::string(9'600 - 7 - 3, 'z'))}})), "OK");
  EXPECT_EQ(Error(UpdateOf("SET z = :z", {{":z", S(std::string(9'600 - 7 - 3 + 1, 'z'))}})), kTooLarge);
  // With local indexes, their entries count toward the size.
  CreateIndexed();
  Put({{"x", S(big)}, {"y", S("small")}}, kIndexed);
  EXPECT_EQ(Error(UpdateOf("SET y = x", {}, kIndexed)), "OK");
  Put({{"x", S(big)}}, kIndexed);
  EXPECT_EQ(Error(UpdateOf("SET y = :y", {{":y", S(std::string(10'000, 'y'))}}, kIndexed)), "OK");
  EXPECT_EQ(Error(UpdateOf("SET l = :l", {{":l", S("l")}}, kIndexed)), kTooLarge);
}

TEST_F(UpdateItemTest, MuchWorkIsNotDoneOnTheThreadOfTheCaller) {
  const auto is_refused_here = [this](size_t item_bytes) {
    Put({{"x", S(std::string(item_bytes, 'x'))}});
    std::thread::id thread;
    Answer<WriteResult> answer;
    engine_->UpdateItem({}, UpdateOf("SET y = absent, z = x"),
                        [&thread, done = answer.Catch()](absl::StatusOr<WriteResult> result) mutable {
                          thread = std::this_thread::get_id();
                          std::move(done)(std::move(result));
                        });
    EXPECT_EQ(TextOf(answer.Take().status()),
              "The provided expression refers to an attribute that does not exist in the item");
    return thread == std::this_thread::get_id();
  };
  EXPECT_TRUE(is_refused_here(1000));
  EXPECT_FALSE(is_refused_here(400'000));
}

TEST_F(UpdateItemTest, ConcurrentIncrementsAreAllCounted) {
  constexpr int kThreads = 8;
  constexpr int kIncrements = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < kIncrements; ++j) {
        const absl::Status status = engine_.Update(UpdateOf("ADD c :one", {{":one", N("1")}})).status();
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get(), "c=N:400, pk=S:a, sk=N:1");
}

}  // namespace armature::engine::update_item_test
