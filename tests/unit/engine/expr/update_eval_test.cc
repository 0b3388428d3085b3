#include "engine/expr/update_eval.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/limits.h"
#include "tests/unit/engine/expr/expr_test_util.h"
#include "tests/unit/storage/model/printed_item.h"

namespace armature::expr::update_eval_test {

using testing::B;
using testing::Bool;
using testing::BS;
using testing::ErrorText;
using testing::Item;
using testing::L;
using testing::M;
using testing::N;
using testing::NS;
using testing::Null;
using testing::Request;
using testing::S;
using testing::SS;
using testing::Wire;

constexpr char kAbsent[] = "The provided expression refers to an attribute that does not exist in the item";
constexpr char kWrongType[] = "An operand in the update expression has an incorrect data type";
constexpr char kWrongPath[] = "The document path provided in the update expression is invalid for update";
constexpr char kOverflow[] = "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr char kTooDeep[] =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

using Members = std::map<std::string, Wire>;

// The largest memory of this process so far.
size_t PeakMemoryKb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss);
}

// One update and the items it was applied to.
class Applied {
 public:
  Applied(std::string_view text, const Members& values = {}) {
    request_.With(ExpressionKind::kUpdate, text);
    for (const auto& [key, value] : values) request_.WithValue(key, value);
    bound_ = request_.Bind();
    EXPECT_TRUE(bound_.ok()) << text << ": " << bound_.status();
  }
  const Update& update() const { return *bound_->update; }

  // The item after the update, "nothing", or the error.
  std::string To(const Members& item) const { return Run(Item(item)); }
  std::string ToNothing() const { return Run(std::nullopt); }

 private:
  std::string Run(const std::optional<std::string>& before) const {
    if (!bound_.ok()) return "not bound";
    std::optional<model::ItemView> view;
    if (before.has_value()) view = model::ItemView(*before);
    const std::string key = Item({{"h", S("k")}});
    const absl::StatusOr<std::optional<std::string>> after = ApplyUpdate(update(), view, model::ItemView(key));
    if (!after.ok()) return ErrorText(after.status());
    if (!after->has_value()) return "nothing";
    return model::PrintedItem(model::ItemView(**after));
  }

  Request request_;
  absl::StatusOr<BoundExpressions> bound_;
};

struct Case {
  std::string_view update;
  Members item;
  std::string_view after;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(Applied(c.update).To(c.item), c.after) << c.update;
  }
}

TEST(UpdateEval, SetCreatesAndReplaces) {
  Check({
      {"SET a = :n", {{"h", S("k")}}, "a=N:5, h=S:k"},
      {"SET z = :n", {{"h", S("k")}}, "h=S:k, z=N:5"},
      {"SET a = :n, z = :s, m = :true", {{"b", S("k")}, {"t", S("t")}}, "a=N:5, b=S:k, m=true, t=S:t, z=S:abc"},
      {"SET a = :s", {{"a", N("1")}, {"b", N("2")}}, "a=S:abc, b=N:2"},
      {"SET a = :m, b = :l", {}, "a={k=N:1}, b=[N:1, S:a]"},
      {"SET a = :null, b = :bs", {}, "a=null, b=<p, q>"},
  });
}

TEST(UpdateEval, OperandsAreReadFromTheItemBefore) {
  Check({
      {"SET a = :n, b = a", {{"a", N("1")}}, "a=N:5, b=N:1"},
      {"SET b = a, a = b", {{"a", N("1")}, {"b", N("2")}}, "a=N:2, b=N:1"},
      {"REMOVE a SET b = a", {{"a", N("1")}}, "b=N:1"},
      {"SET b = a + a ADD a :n", {{"a", N("1")}}, "a=N:6, b=N:2"},
      {"SET b = a.k, a.k = :n", {{"a", M({{"k", N("1")}})}}, "a={k=N:5}, b=N:1"},
      {"SET a[0] = a[1], a[1] = a[0]", {{"a", L({N("1"), N("2")})}}, "a=[N:2, N:1]"},
      {"SET a = :n, b = a", {}, kAbsent},
      {"SET b = a.k", {{"a", N("1")}}, kAbsent},
      {"SET b = a[2]", {{"a", L({N("1"), N("2")})}}, kAbsent},
      {"SET b = a[0]", {{"a", M({{"0", N("1")}})}}, kAbsent},
  });
}

TEST(UpdateEval, AnUpdateThatCreatesAnItemReadsItsKey) {
  EXPECT_EQ(Applied("SET b = h, c = if_not_exists(h, :n)").ToNothing(), "b=S:k, c=S:k, h=S:k");
  EXPECT_EQ(Applied("SET b = a").ToNothing(), kAbsent);
}

TEST(UpdateEval, AddsAndSubtracts) {
  Check({
      {"SET a = a + :n", {{"a", N("1.5")}}, "a=N:6.5"},
      {"SET a = a - :n", {{"a", N("1.5")}}, "a=N:-3.5"},
      {"SET a = :n - a", {{"a", N("5")}}, "a=N:0"},
      {"SET a = b - c", {{"b", N("0.3")}, {"c", N("0.1")}}, "a=N:0.2, b=N:0.3, c=N:0.1"},
      {"SET a = if_not_exists(a, :n0) + :n", {}, "a=N:5"},
      {"SET a = if_not_exists(a, :n0) + :n", {{"a", N("2")}}, "a=N:7"},
      {"SET a = a + :n", {{"a", S("1")}}, kWrongType},
      {"SET a = :n + a", {{"a", NS({"1"})}}, kWrongType},
      {"SET a = a + :n", {}, kAbsent},
      {"SET a = a + :n", {{"a", N("100000000000000000000000000000000000000")}}, kOverflow},
      {"ADD a :n", {{"a", N("100000000000000000000000000000000000000")}}, kOverflow},
  });
}

TEST(UpdateEval, AppendsLists) {
  Check({
      {"SET a = list_append(a, :l)", {{"a", L({N("7")})}}, "a=[N:7, N:1, S:a]"},
      {"SET a = list_append(:l, a)", {{"a", L({N("7")})}}, "a=[N:1, S:a, N:7]"},
      {"SET b = list_append(a, a)", {{"a", L({N("7")})}}, "a=[N:7], b=[N:7, N:7]"},
      {"SET a = list_append(if_not_exists(a, :l), :l)", {}, "a=[N:1, S:a, N:1, S:a]"},
      {"SET a = list_append(a, :l)", {{"a", L({})}}, "a=[N:1, S:a]"},
      {"SET a = list_append(a, :l)", {}, kAbsent},
      {"SET a = list_append(a, :l)", {{"a", SS({"x"})}}, kWrongType},
      {"SET a = list_append(:l, a)", {{"a", N("1")}}, kWrongType},
  });
}

TEST(UpdateEval, IfNotExistsLooksAtTheSecondOperandOnlyIfItMust) {
  Check({
      {"SET a = if_not_exists(b, :n)", {{"b", S("there")}}, "a=S:there, b=S:there"},
      {"SET a = if_not_exists(b, :n)", {}, "a=N:5"},
      {"SET a = if_not_exists(b, c)", {{"b", S("there")}}, "a=S:there, b=S:there"},
      {"SET a = if_not_exists(b, c)", {}, kAbsent},
      {"SET a = if_not_exists(b, if_not_exists(c, :n))", {{"c", Null()}}, "a=null, c=null"},
      {"SET a = if_not_exists(b.k[0], :n)", {{"b", M({{"k", L({N("1")})}})}}, "a=N:1, b={k=[N:1]}"},
  });
}

TEST(UpdateEval, NestedTargetsNeedTheirParents) {
  const Members item = {{"l", L({M({{"x", N("1")}}), N("2")})}, {"m", M({{"k", N("1")}, {"n", M({})}})}};
  const auto check = [&](std::string_view update, std::string_view after) {
    EXPECT_EQ(Applied(update).To(item), after) << update;
  };
  check("SET m.k = :n", "l=[{x=N:1}, N:2], m={k=N:5, n={}}");
  check("SET m.a = :n, m.z = :s", "l=[{x=N:1}, N:2], m={a=N:5, k=N:1, n={}, z=S:abc}");
  check("SET m.n.fresh = :n", "l=[{x=N:1}, N:2], m={k=N:1, n={fresh=N:5}}");
  check("SET l[0].x = :n, l[0].y = :s", "l=[{x=N:5, y=S:abc}, N:2], m={k=N:1, n={}}");
  check("REMOVE m.k, m.n", "l=[{x=N:1}, N:2], m={}");
  check("REMOVE l[0].x, l[1]", "l=[{}], m={k=N:1, n={}}");
  check("REMOVE l[0], l[1]", "l=[], m={k=N:1, n={}}");
  check("REMOVE m.absent, l[9], absent", "l=[{x=N:1}, N:2], m={k=N:1, n={}}");
  check("ADD m.k :n, l[1] :n, m.q :n", "l=[{x=N:1}, N:7], m={k=N:6, n={}, q=N:5}");
  for (const std::string_view wrong :
       {"SET a.k = :n", "SET a[0] = :n", "SET m[0] = :n", "SET l.k = :n", "SET m.k.deeper = :n", "SET m.absent.k = :n",
        "SET l[2].k = :n", "SET l[1].k = :n", "SET m.n[0] = :n", "REMOVE a.k", "REMOVE m[0]", "REMOVE l.k",
        "REMOVE m.absent.k", "REMOVE l[2].k", "REMOVE m.k[0]", "ADD a.k :n", "ADD m.absent.k :ss", "DELETE a.k :ss"}) {
    check(wrong, kWrongPath);
  }
}

TEST(UpdateEval, ListIndexesMeanPlacesBefore) {
  const Members item = {{"l", L({N("0"), N("1"), N("2"), N("3")})}};
  const auto check = [&](std::string_view update, std::string_view after) {
    EXPECT_EQ(Applied(update).To(item), after) << update;
  };
  check("REMOVE l[0], l[2]", "l=[N:1, N:3]");
  check("REMOVE l[2], l[0]", "l=[N:1, N:3]");
  check("REMOVE l[1] SET l[2] = :s", "l=[N:0, S:abc, N:3]");
  check("SET l[2] = :s REMOVE l[1], l[3]", "l=[N:0, S:abc]");
  check("SET l[4] = :s", "l=[N:0, N:1, N:2, N:3, S:abc]");
  check("SET l[100] = :s, l[7] = :true, l[50] = :n", "l=[N:0, N:1, N:2, N:3, true, N:5, S:abc]");
  check("SET l[100] = :s REMOVE l[0], l[1], l[99]", "l=[N:2, N:3, S:abc]");
  check("SET l[2147483647] = :s", "l=[N:0, N:1, N:2, N:3, S:abc]");
  check("ADD l[10] :n", "l=[N:0, N:1, N:2, N:3, N:5]");
}

TEST(UpdateEval, AddsToNumbersAndSets) {
  Check({
      {"ADD a :n", {}, "a=N:5"},
      {"ADD a :n", {{"a", N("-2")}}, "a=N:3"},
      {"ADD a :ss", {}, "a=<x, y>"},
      {"ADD a :ss", {{"a", SS({"w", "x", "z"})}}, "a=<w, x, y, z>"},
      {"ADD a :bs", {{"a", BS({"a", "z"})}}, "a=<a, p, q, z>"},
      {"ADD a :ns", {{"a", NS({"-3", "1", "10"})}}, "a=<-3, 1, 2, 10>"},
      {"ADD a :ss", {{"a", SS({"x", "y"})}}, "a=<x, y>"},
      {"ADD a :n", {{"a", S("5")}}, kWrongType},
      {"ADD a :ss", {{"a", NS({"5"})}}, kWrongType},
      {"ADD a :ns", {{"a", N("5")}}, kWrongType},
      {"ADD a :n", {{"a", NS({"5"})}}, kWrongType},
  });
}

TEST(UpdateEval, DeletesFromSets) {
  Check({
      {"DELETE a :ss", {{"a", SS({"x", "z"})}}, "a=<z>"},
      {"DELETE a :ns", {{"a", NS({"-3", "1", "10"})}}, "a=<-3, 10>"},
      {"DELETE a :bs", {{"a", BS({"a", "q"})}}, "a=<a>"},
      {"DELETE a :ss", {{"a", SS({"x", "y"})}, {"b", N("1")}}, "b=N:1"},
      {"DELETE m.a :ss", {{"m", M({{"a", SS({"x"})}})}}, "m={}"},
      {"DELETE a :ss", {{"a", SS({"u", "z"})}}, "a=<u, z>"},
      {"DELETE a :ss", {{"b", N("1")}}, "b=N:1"},
      {"DELETE a :ss", {{"a", S("x")}}, kWrongType},
      {"DELETE a :ns", {{"a", SS({"1"})}}, kWrongType},
  });
}

TEST(UpdateEval, MissingItemIsMadeFromItsKeyUnlessOnlyRemovalsAreAsked) {
  EXPECT_EQ(Applied("SET a = :n").ToNothing(), "a=N:5, h=S:k");
  EXPECT_EQ(Applied("ADD a :n, z :ss").ToNothing(), "a=N:5, h=S:k, z=<x, y>");
  EXPECT_EQ(Applied("REMOVE a").ToNothing(), "nothing");
  EXPECT_EQ(Applied("DELETE a :ss").ToNothing(), "nothing");
  EXPECT_EQ(Applied("REMOVE a.b[1], c DELETE d.e :ss").ToNothing(), "nothing");
  EXPECT_EQ(Applied("SET a = :n REMOVE b.c DELETE d.e :ss").ToNothing(), "a=N:5, h=S:k");
  EXPECT_EQ(Applied("SET a.b = :n").ToNothing(), kWrongPath);
  EXPECT_EQ(Applied("SET a[0] = :n").ToNothing(), kWrongPath);
}

TEST(UpdateEval, AnUpdateWithoutActionsMakesABareItem) {
  const std::string key = Item({{"h", S("k")}});
  const absl::StatusOr<std::optional<std::string>> made = ApplyUpdate(Update(), std::nullopt, model::ItemView(key));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, key);
  const std::string item = Item({{"a", N("1")}, {"h", S("k")}});
  EXPECT_EQ(**ApplyUpdate(Update(), model::ItemView(item), model::ItemView(key)), item);
}

TEST(UpdateEval, ListsCanBeAddedToByThoseWhoMakeTheTree) {
  const Wire more = L({S("x")});
  Update update;
  OperandAction& action = update.adds.emplace_back();
  action.target.elements.push_back({PathElement::Kind::kName, "a"});
  action.operand.value = model::ValueView::FromWire(more);
  const std::string item = Item({{"a", L({N("1")})}});
  EXPECT_EQ(model::PrintedItem(model::ItemView(**ApplyUpdate(update, model::ItemView(item), model::ItemView()))),
            "a=[N:1, S:x]");
}

// `levels` nested maps. The innermost is empty.
Wire Maps(int levels) {
  Wire wire = M({});
  for (int i = 1; i < levels; ++i) wire = M({{"k", wire}});
  return wire;
}

TEST(UpdateEval, ResultsDoNotNestTooDeep) {
  constexpr int kMax = model::kNestingDepthMax;
  EXPECT_NE(Applied("SET a = :deep", {{":deep", Maps(kMax)}}).To({}), kTooDeep);
  EXPECT_EQ(Applied("SET a = :deep", {{":deep", Maps(kMax + 1)}}).To({}), kTooDeep);
  const Members item = {{"a", Maps(2)}, {"l", L({N("1")})}};
  EXPECT_NE(Applied("SET a.k.k = :deep", {{":deep", Maps(kMax - 2)}}).To(item), kTooDeep);
  EXPECT_EQ(Applied("SET a.k.k = :deep", {{":deep", Maps(kMax - 1)}}).To(item), kTooDeep);
  EXPECT_EQ(Applied("SET l[5] = :deep", {{":deep", Maps(kMax)}}).To(item), kTooDeep);
  EXPECT_EQ(Applied("SET l = list_append(l, :deep)", {{":deep", L({Maps(kMax)})}}).To(item), kTooDeep);
  EXPECT_EQ(Applied("SET l[0] = a").To({{"a", Maps(kMax)}, {"l", L({N("1")})}}), kTooDeep);
}

TEST(UpdateEval, NewAttributesHaveANameOfLegalLength) {
  const auto error = [](std::string_view text, std::string name) {
    Request request;
    request.With(ExpressionKind::kUpdate, text).WithName("#name", std::move(name));
    const absl::StatusOr<BoundExpressions> bound = request.Bind();
    if (!bound.ok()) return ErrorText(bound.status());
    const std::string item = Item({{"m", M({})}});
    return ErrorText(ApplyUpdate(*bound->update, model::ItemView(item), model::ItemView()).status());
  };
  constexpr char kTooLong[] = "1 validation error detected: Attribute name is too large, must be less than 65536 bytes";
  EXPECT_EQ(error("SET #name = :n", std::string(65'535, 'x')), "OK");
  EXPECT_EQ(error("SET #name = :n", std::string(65'536, 'x')), kTooLong);
  EXPECT_EQ(error("ADD m.#name :n", std::string(65'536, 'x')), kTooLong);
  constexpr char kEmpty[] = "ExpressionAttributeNames contains invalid value: Empty attribute name for key #name";
  EXPECT_EQ(error("SET #name = :n", ""), kEmpty);
  EXPECT_EQ(error("SET m.#name = :n", ""), kEmpty);
  EXPECT_EQ(error("REMOVE #name", std::string(65'536, 'x')), kTooLong);
}

// A list of `count` numbers of the largest exponent: three bytes each by the API, 131 encoded.
Wire LongNumbers(size_t count) { return L(std::vector<Wire>(count, N("1" + std::string(125, '0')))); }

constexpr char kTooLarge[] = "Item size to update has exceeded the maximum allowed size";

TEST(UpdateEval, ValuesThatAreTooLargeTogetherAreNotCopied) {
  const Members item = {{"l", LongNumbers(100'000)}, {"s", S(std::string(200'000, 's'))}};
  std::string appends = "SET b0 = list_append(l, l)";
  for (int i = 1; i < 150; ++i) appends += ", b" + std::to_string(i) + " = list_append(l, l)";
  const struct {
    std::string update;
    std::string after;
  } kCases[] = {
      {appends, kTooLarge},
      {"SET a = list_append(l, l)", kTooLarge},
      {"SET a = list_append(l, if_not_exists(x, list_append(l, l)))", kTooLarge},
      {"SET l[0] = list_append(l, l)", kTooLarge},
      {"SET a = s, b = s, c = s", kTooLarge},
      {"SET a = l, b = l", kTooLarge},
      // Ends before the operand of the second clause is found absent.
      {"SET a = list_append(l, l), b = absent", kTooLarge},
  };
  const size_t before = PeakMemoryKb();
  for (const auto& c : kCases) EXPECT_EQ(Applied(c.update).To(item), c.after) << c.update;
  // Without a budget, the first update alone takes four gigabytes.
  EXPECT_LT(PeakMemoryKb() - before, size_t{200} << 10);
}

TEST(UpdateEval, ValuesUpToTheLimitAreWritten) {
  const size_t max = model::kItemSizeMaxBytes;
  Request request;
  request.With(ExpressionKind::kUpdate, "SET a = :a, b = :b").WithValue(":a", S(std::string(max / 2, 'a')));
  const auto apply = [&request, max](size_t more) {
    request.WithValue(":b", S(std::string(max / 2 + more, 'b')));
    const absl::StatusOr<BoundExpressions> bound = request.Bind();
    if (!bound.ok()) return ErrorText(bound.status());
    return ErrorText(ApplyUpdate(*bound->update, std::nullopt, model::ItemView()).status());
  };
  EXPECT_EQ(apply(0), "OK");
  EXPECT_EQ(apply(1), kTooLarge);
  // A value that goes does not count.
  EXPECT_EQ(Applied("SET a = list_append(l, :l) REMOVE l").To({{"l", L({N("1")})}}), "a=[N:1, N:1, S:a]");
  // The limit is one on API sizes: these 130,000 numbers have 17 megabytes encoded.
  EXPECT_NE(Applied("SET a = list_append(l, l) REMOVE l").To({{"l", LongNumbers(65'000)}}), kTooLarge);
  EXPECT_EQ(Applied("ADD a :s", {{":s", SS({std::string(max, 's')})}}).To({{"a", SS({"x"})}}), kTooLarge);
}

TEST(UpdateEval, DeeplyNestedTargetsCopyTheItemOnce) {
  constexpr int kDepth = 30;
  Wire value = LongNumbers(100'000);
  std::string path = "a";
  for (int i = 0; i < kDepth; ++i) {
    value = M({{"k", value}});
    path += ".k";
  }
  const std::string item = Item({{"a", value}});
  value.clear();
  Request request;
  request.With(ExpressionKind::kUpdate, "SET " + path + "[1] = :n");
  const absl::StatusOr<BoundExpressions> bound = request.Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  const size_t before = PeakMemoryKb();
  const absl::StatusOr<std::optional<std::string>> after =
      ApplyUpdate(*bound->update, model::ItemView(item), model::ItemView());
  EXPECT_LT(PeakMemoryKb() - before, size_t{60} << 10) << "the item has 13 megabytes";
  ASSERT_TRUE(after.ok()) << after.status();
  // A digit instead of 126, whose element has a length of one byte instead of two.
  EXPECT_EQ((*after)->size(), item.size() - 126);
}

TEST(UpdateEval, ResultIsCanonical) {
  // The bytes equal those of an item canonicalized as a whole.
  const std::string before = Item({{"a", N("1")}, {"m", M({{"b", N("1")}, {"z", L({N("1")})}})}, {"z", SS({"a"})}});
  Request request;
  request.With(ExpressionKind::kUpdate, "SET m.c = :s, m.z[3] = :n, b = :l ADD z :ss REMOVE m.b, a");
  const absl::StatusOr<BoundExpressions> bound = request.Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  const absl::StatusOr<std::optional<std::string>> after =
      ApplyUpdate(*bound->update, model::ItemView(before), model::ItemView());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(**after, Item({{"b", L({N("1"), S("a")})},
                           {"m", M({{"c", S("abc")}, {"z", L({N("1"), N("5")})}})},
                           {"z", SS({"a", "x", "y"})}}));
}

TEST(UpdateEval, TargetsComeInTheOrderOfTheText) {
  const Applied applied("REMOVE d, c[1] ADD b :n SET a.x = :n, e = f DELETE g :ss");
  std::vector<std::string> names;
  for (const DocumentPath* target : TargetsOf(applied.update())) names.push_back(target->attribute());
  EXPECT_EQ(names, (std::vector<std::string>{"d", "c", "b", "a", "e", "g"}));
}

TEST(UpdateEval, UpdatedPartsKeepTheirHierarchy) {
  const Applied applied("SET a.k = :n, b = :s, l[1] = :n, l[9] = :s REMOVE c, l[0] ADD n :n");
  const Projection parts = UpdatedParts(applied.update());
  const std::string item = Item({{"a", M({{"j", N("1")}, {"k", N("2")}})},
                                 {"c", Bool(true)},
                                 {"l", L({N("0"), N("1"), N("2")})},
                                 {"other", B("x")}});
  EXPECT_EQ(model::PrintedItem(model::ItemView(Project(parts, model::ItemView(item)))),
            "a={k=N:2}, c=true, l=[N:0, N:1]");
  const std::string after = **ApplyUpdate(applied.update(), model::ItemView(item), model::ItemView());
  // An element that moved into the place of a removed one is shown. An element set beyond the end is not, because its
  // index differs.
  EXPECT_EQ(model::PrintedItem(model::ItemView(Project(parts, model::ItemView(after)))),
            "a={k=N:5}, b=S:abc, l=[N:5, N:2], n=N:5");
  EXPECT_EQ(Project(UpdatedParts(Update()), model::ItemView(item)), "");
}

TEST(UpdateEval, DamagedItemsNeverCrashIt) {
  const Applied applied("SET a.k = b[0], l[1] = :n, n = n + :n REMOVE c.d ADD s :ss DELETE t :ns");
  const std::string item = Item({{"a", M({{"k", N("1")}})},
                                 {"b", L({N("1")})},
                                 {"c", M({{"d", N("1")}})},
                                 {"l", L({N("1")})},
                                 {"n", N("1")},
                                 {"s", SS({"q"})},
                                 {"t", NS({"1", "3"})}});
  int refused = 0;
  for (size_t i = 0; i < item.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = item;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      if (!ApplyUpdate(applied.update(), model::ItemView(damaged), model::ItemView()).ok()) ++refused;
    }
    const std::string cut = item.substr(0, i);
    if (!ApplyUpdate(applied.update(), model::ItemView(cut), model::ItemView()).ok()) ++refused;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace armature::expr::update_eval_test
