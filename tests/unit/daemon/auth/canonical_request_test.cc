#include "daemon/auth/canonical_request.h"

#include <gtest/gtest.h>

namespace armature::daemon::canonical_request_test {

TEST(CanonicalRequest, PathsAreNormalisedAndEscaped) {
  const struct {
    std::string_view path;
    std::string_view canonical;
  } kCases[] = {
      {"", "/"},
      {"/", "/"},
      {"//", "/"},
      {"/./", "/"},
      {"/..", "/"},
      {"/../../a", "/a"},
      {"/./example", "/example"},
      {"//example//", "/example/"},
      {"/example/..", "/"},
      {"/a/b/..", "/a/"},
      {"/a/b/../c", "/a/c"},
      {"/a/.", "/a/"},
      {"/example1/example2/../..", "/"},
      {"/example space/", "/example%20space/"},
      {"/\u1234", "/%E1%88%B4"},
      // Escapes in the request are escaped again.
      {"/%E1%88%B4", "/%25E1%2588%25B4"},
      {"/a%2Fb", "/a%252Fb"},
      {"/-._~09AZaz", "/-._~09AZaz"},
      {"/a=b&c+d", "/a%3Db%26c%2Bd"},
  };
  for (const auto& c : kCases) EXPECT_EQ(CanonicalPath(c.path), c.canonical) << c.path;
}

TEST(CanonicalRequest, QueriesAreDecodedSortedAndEscaped) {
  const struct {
    std::string_view target;
    std::string_view canonical;
  } kCases[] = {
      {"/", ""},
      {"/?", ""},
      {"/?&&", ""},
      {"/?b=2&a=1", "a=1&b=2"},
      {"/?a=2&a=1&A=3", "A=3&a=1&a=2"},
      {"/?a", "a="},
      {"/?=v", "=v"},
      {"/?a=b=c", "a=b%3Dc"},
      {"/?a=%2f%2F/", "a=%2F%2F%2F"},
      {"/?a=1+2 3", "a=1%2B2%203"},
      {"/?a=%zz%4", "a=%25zz%254"},
      {"/?a=%41", "a=A"},
      {"/?\u1234=bar", "%E1%88%B4=bar"},
      {"/?a=1&X-Amz-Signature=0&X-Amz-Date=d", "X-Amz-Date=d&a=1"},
      {"/?a=1?b", "a=1%3Fb"},
  };
  for (const auto& c : kCases) EXPECT_EQ(CanonicalQuery(QueryOf(c.target)), c.canonical) << c.target;
}

TEST(CanonicalRequest, HeadersAreTrimmedFoldedAndJoined) {
  HttpRequest request;
  request.headers = {{"b", "  two \t  words "}, {"a", "1"},      {"c", ""}, {"a", "0"},
                     {"d", "\"x   y\""},        {"e", "x\r\n y"}};
  std::string out;
  EXPECT_TRUE(AppendCanonicalHeaders(request, {"a", "b", "c", "d", "e"}, &out));
  EXPECT_EQ(out, "a:1,0\nb:two words\nc:\nd:\"x y\"\ne:x y\n");
  out.clear();
  EXPECT_TRUE(AppendCanonicalHeaders(request, {"c"}, &out));
  EXPECT_EQ(out, "c:\n");
  EXPECT_FALSE(AppendCanonicalHeaders(request, {"a", "aa"}, &out));
  EXPECT_FALSE(AppendCanonicalHeaders(request, {"z"}, &out));
}

}  // namespace armature::daemon::canonical_request_test
