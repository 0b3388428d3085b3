#include "engine/expr/binder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "storage/model/limits.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::binder_test {

using testing::ErrorText;
using testing::Item;
using testing::N;
using testing::Request;
using testing::S;

constexpr ExpressionKind kUpdate = ExpressionKind::kUpdate;
constexpr ExpressionKind kCondition = ExpressionKind::kCondition;
constexpr ExpressionKind kFilter = ExpressionKind::kFilter;
constexpr ExpressionKind kKey = ExpressionKind::kKeyCondition;
constexpr ExpressionKind kProjection = ExpressionKind::kProjection;

TEST(Binder, NothingGivesNothing) {
  const auto bound = Request().Bind(kQueryKinds);
  ASSERT_TRUE(bound.ok());
  EXPECT_FALSE(bound->update.has_value() || bound->condition.has_value() || bound->key_condition.has_value() ||
               bound->filter.has_value() || bound->projection.has_value());
}

TEST(Binder, NamesNeedAnExpression) {
  EXPECT_EQ(ErrorText(Request().WithName("#a", "a").Bind(kGetKinds).status()),
            "ExpressionAttributeNames can only be specified when using expressions");
}

TEST(Binder, ValuesNeedAnExpressionThatUsesValues) {
  const std::string text = "ExpressionAttributeValues can only be specified when using expressions: ";
  const auto error = [](std::span<const ExpressionKind> kinds) {
    return ErrorText(Request().WithValue(":v", S("x")).Bind(kinds).status());
  };
  EXPECT_EQ(error(kPutKinds), text + "ConditionExpression is null");
  EXPECT_EQ(error(kDeleteKinds), text + "ConditionExpression is null");
  EXPECT_EQ(error(kUpdateKinds), text + "UpdateExpression and ConditionExpression are null");
  EXPECT_EQ(error(kScanKinds), text + "FilterExpression is null");
  EXPECT_EQ(error(kQueryKinds), text + "FilterExpression and KeyConditionExpression are null");
  EXPECT_EQ(ErrorText(Request().With(kProjection, "#a").WithValue(":v", S("x")).Bind(kScanKinds).status()),
            text + "FilterExpression is null");
  // Names are checked before values.
  EXPECT_EQ(ErrorText(Request().WithName("#a", "a").WithValue(":v", S("x")).Bind(kScanKinds).status()),
            "ExpressionAttributeNames can only be specified when using expressions");
}

TEST(Binder, PlaceholderParametersMayNotBeEmpty) {
  ExpressionTexts expressions;
  expressions.filter = "a = :v";
  Placeholders placeholders;
  placeholders.values = model::ItemView();
  EXPECT_EQ(ErrorText(BindExpressions(expressions, placeholders, kScanKinds).status()),
            "ExpressionAttributeValues must not be empty");
  placeholders.names.emplace();
  EXPECT_EQ(ErrorText(BindExpressions(expressions, placeholders, kScanKinds).status()),
            "ExpressionAttributeNames must not be empty");
}

TEST(Binder, PlaceholderKeysAreChecked) {
  const auto name_error = [](const std::string& key) {
    return ErrorText(Request().With(kFilter, "(").WithName(key, "x").Bind(kScanKinds).status());
  };
  for (const char* const key : {"a", "#", "", ":a", "#a-b", "#a b", "##", "#\xC3\xA9"}) {
    EXPECT_EQ(name_error(key), Cat("ExpressionAttributeNames contains invalid key: Syntax error; key: \"", key, "\""));
  }
  const auto value_error = [](const std::string& key) {
    return ErrorText(Request().With(kFilter, "(").WithValue(key, N("1")).Bind(kScanKinds).status());
  };
  for (const char* const key : {"a", ":", "", "#a", ":a.b"}) {
    EXPECT_EQ(value_error(key),
              Cat("ExpressionAttributeValues contains invalid key: Syntax error; key: \"", key, "\""));
  }
  EXPECT_EQ(ErrorText(Request()
                          .With(kFilter, "(")
                          .WithName("#b!", "x")
                          .WithName("#a!", "x")
                          .WithValue("v", N("1"))
                          .Bind(kScanKinds)
                          .status()),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a!\"");
}

TEST(Binder, PlaceholderKeysMayHaveDigitsAndUnderscoresAnywhere) {
  EXPECT_EQ(ErrorText(Request()
                          .With(kFilter, "#1 = :0_ AND #_ = :_")
                          .WithName("#1", "a")
                          .WithName("#_", "b")
                          .WithValue(":0_", N("1"))
                          .WithValue(":_", N("1"))
                          .Bind(kScanKinds)
                          .status()),
            "OK");
}

TEST(Binder, PlaceholderSizesAreBounded) {
  const auto error = [](size_t length) {
    const std::string key = "#" + std::string(length - 1, 'x');
    return ErrorText(Request().With(kProjection, key).WithName(key, "x").Bind(kGetKinds).status());
  };
  EXPECT_EQ(error(model::kPlaceholderMaxBytes), "OK");
  EXPECT_EQ(error(model::kPlaceholderMaxBytes + 1),
            "ExpressionAttributeNames contains invalid key: Key size has exceeded the maximum "
            "allowed size of 255 bytes; key size: 256");
  const auto total_error = [](size_t bytes) {
    return ErrorText(Request()
                         .With(kFilter, "#x = :x")
                         .WithName("#x", "xx")
                         .WithValue(":x", S(std::string(bytes - 6, 'x')))
                         .Bind(kScanKinds)
                         .status());
  };
  EXPECT_EQ(total_error(model::kPlaceholderMapsMaxBytes), "OK");
  EXPECT_EQ(total_error(model::kPlaceholderMapsMaxBytes + 1),
            "ExpressionAttributeNames and ExpressionAttributeValues have exceeded the maximum "
            "allowed size of 2097152 bytes; size: 2097153");
}

TEST(Binder, ListsUnusedPlaceholdersNamesFirst) {
  Request request;
  request.With(kFilter, "#a = :s").WithName("#z", "z").WithName("#y", "y").WithValue(":u", S(""));
  EXPECT_EQ(ErrorText(request.Bind(kScanKinds).status()),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#y, #z}");
  EXPECT_EQ(ErrorText(Request().With(kFilter, "#a = :s").WithValue(":u", S("")).Bind(kScanKinds).status()),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}");
}

TEST(Binder, APlaceholderIsUsedByAnyExpression) {
  EXPECT_EQ(ErrorText(Request()
                          .With(kKey, "#h = :s")
                          .With(kFilter, "#a = :n OR #a = :s")
                          .With(kProjection, "#b, #a")
                          .Bind(kQueryKinds)
                          .status()),
            "OK");
}

// Every expression is faulty. Removing the first one reveals the error of the next.
TEST(Binder, GoesThroughExpressionsInTheDocumentedOrder) {
  const auto error = [](std::initializer_list<ExpressionKind> kinds) {
    Request request;
    for (const ExpressionKind kind : kinds) request.With(kind, "");
    return ErrorText(request.Bind().status());
  };
  const std::string_view text = ": The expression can not be empty;";
  EXPECT_EQ(error({kUpdate, kCondition, kKey, kFilter, kProjection}), Cat("Invalid UpdateExpression", text));
  EXPECT_EQ(error({kCondition, kKey, kFilter, kProjection}), Cat("Invalid ConditionExpression", text));
  EXPECT_EQ(error({kKey, kFilter, kProjection}), Cat("Invalid KeyConditionExpression", text));
  EXPECT_EQ(error({kFilter, kProjection}), Cat("Invalid FilterExpression", text));
  EXPECT_EQ(error({kProjection}), Cat("Invalid ProjectionExpression", text));
}

TEST(Binder, JudgesExpressionsBeforeUnusedPlaceholdersAndKeyRestrictionsLast) {
  Request request;
  request.With(kKey, "h = :s OR h = :s2").With(kFilter, "a = a").WithName("#unused", "x");
  EXPECT_TRUE(ErrorText(request.Bind().status()).starts_with("Invalid FilterExpression: "));
  request.With(kFilter, "a = b");
  EXPECT_TRUE(ErrorText(request.Bind().status()).starts_with("Value provided in Expr"));
  request.With(kProjection, "#unused");
  EXPECT_EQ(ErrorText(request.Bind().status()),
            "Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: OR");
}

TEST(Binder, ResultOutlivesTheTexts) {
  Request request;
  absl::StatusOr<BoundExpressions> bound;
  {
    std::string text = "attribute_with_a_long_name.and_another_long_name = :s";
    bound = request.With(kFilter, text).Bind();
    text.assign(text.size(), 'x');
  }
  ASSERT_TRUE(bound.ok());
  const auto& comparison = std::get<Comparison>(bound->filter->root.node);
  EXPECT_EQ(comparison.left.path()->elements[1].name, "and_another_long_name");
  EXPECT_EQ(comparison.right.value()->value->scalar(), "abc");
}

TEST(Binder, NamesThatReplacePlaceholdersAreBoundedTogether) {
  const auto error = [](int paths, size_t name_bytes) {
    std::string text;
    for (int i = 0; i < paths; ++i) text += Cat(text.empty() ? "" : ", ", "#n.a", i);
    return ErrorText(Request().With(kProjection, text).WithName("#n", std::string(name_bytes, 'n')).Bind().status());
  };
  EXPECT_EQ(error(400, 255), "OK");
  EXPECT_EQ(error(8, 65'535), "OK");
  EXPECT_EQ(error(9, 65'535),
            "Invalid ProjectionExpression: The names that replace placeholders have exceeded the maximum allowed size; "
            "maximum size: 524288");
}

TEST(Binder, NamesAreNotLongerThanThoseOfAttributes) {
  EXPECT_EQ(ErrorText(Request().With(kFilter, "#n = :s").WithName("#n", std::string(65'536, 'n')).Bind().status()),
            "1 validation error detected: Attribute name is too large, must be less than 65536 bytes");
}

TEST(Binder, ErrorsQuoteLongNamesAndValuesInPart) {
  const std::string name(60'000, 'n');
  Request paths;
  paths.With(kProjection, "#n.a, #n.a").WithName("#n", name);
  EXPECT_LT(ErrorText(paths.Bind().status()).size(), size_t{1000});
  Request bounds;
  bounds.With(kFilter, "a BETWEEN :x AND :y").WithValue(":x", S("z" + name)).WithValue(":y", S(name));
  const std::string error = ErrorText(bounds.Bind().status());
  EXPECT_TRUE(error.starts_with("Invalid FilterExpression: The BETWEEN operator requires upper bound")) << error;
  EXPECT_LT(error.size(), size_t{1000});
}

// The error of the first path, in the order of the text, that clashes with one before it.
std::string FirstClash(const std::vector<std::vector<std::string>>& paths) {
  const auto text = [](const std::vector<std::string>& path) { return Cat("[", absl::StrJoin(path, ", "), "]"); };
  std::string conflict;
  for (size_t two = 0; two < paths.size(); ++two) {
    for (size_t one = 0; one < two; ++one) {
      size_t i = 0;
      while (i < std::min(paths[one].size(), paths[two].size()) && paths[one][i] == paths[two][i]) ++i;
      const bool overlaps = i == std::min(paths[one].size(), paths[two].size());
      if (!overlaps && (paths[one][i].front() == '[') == (paths[two][i].front() == '[')) continue;
      std::string error =
          Cat("Invalid ProjectionExpression: Two document paths ", overlaps ? "overlap" : "conflict",
              " with each other; must remove or rewrite one of these paths; path one: ", text(paths[one]),
              ", path two: ", text(paths[two]));
      if (overlaps) return error;
      if (conflict.empty()) conflict = std::move(error);
    }
  }
  return conflict.empty() ? "OK" : conflict;
}

TEST(Binder, FindsThePathsThatClash) {
  std::mt19937 random(20);
  std::map<std::string, int> outcomes;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::vector<std::string>> paths(1 + random() % 6);
    std::string text;
    for (std::vector<std::string>& path : paths) {
      path.push_back(std::string(1, static_cast<char>('a' + random() % 3)));
      std::string one = path.front();
      for (uint32_t more = random() % 4; more > 0; --more) {
        const bool by_index = random() % 2 == 0;
        path.push_back(by_index ? Cat("[", random() % 3, "]") : std::string(1, static_cast<char>('a' + random() % 3)));
        one += by_index ? path.back() : Cat(".", path.back());
      }
      text += Cat(text.empty() ? "" : ", ", one);
    }
    const std::string expected = FirstClash(paths);
    EXPECT_EQ(ErrorText(Request().With(kProjection, text).Bind().status()), expected) << text;
    ++outcomes[expected.substr(0, 60)];
  }
  EXPECT_EQ(outcomes.size(), 3u) << "not all outcomes occurred";
}

}  // namespace armature::expr::binder_test
