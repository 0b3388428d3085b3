#include "index/index_entry.h"

#include "tests/unit/index/index_test_util.h"

namespace armature::index {
namespace {

using model::ProjectionType;
using store::StringKey;

struct ProjectionCase {
  ProjectionType type;
  std::vector<std::string> included;
  std::vector<std::string> expected;  // subset of a, b, c, g, pk, sk
};

TEST(Projection, EntryHoldsKeysAndWhatIsProjected) {
  const std::string item = StringItem({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"g", "4"}, {"pk", "5"}, {"sk", "6"}});
  const ProjectionCase cases[] = {
      {ProjectionType::kAll, {}, {"a", "b", "c", "g", "pk", "sk"}},
      {ProjectionType::kKeysOnly, {}, {"g", "pk", "sk"}},
      {ProjectionType::kInclude, {"c", "a"}, {"a", "c", "g", "pk", "sk"}},
      {ProjectionType::kInclude, {"absent"}, {"g", "pk", "sk"}},
  };
  for (const ProjectionCase& c : cases) {
    const store::Index index =
        BareIndex(model::IndexKind::kGlobal, StringKey({"g"}, {}), StringKey({"pk"}, {"sk"}), {c.type, c.included});
    const std::string entry = ProjectEntry(index, model::ItemView(item));
    std::vector<std::string> names;
    model::ItemView(entry).ForEach([&](const model::AttributeView& attribute) {
      names.emplace_back(attribute.name);
      EXPECT_EQ(attribute.value, *model::ItemView(item).Find(attribute.name));
      return true;
    });
    EXPECT_EQ(names, c.expected);
    for (const char* name : {"a", "b", "c", "g", "pk", "sk"}) {
      const bool expected = std::find(c.expected.begin(), c.expected.end(), name) != c.expected.end();
      EXPECT_EQ(ProjectsAttribute(index, name), expected) << name;
    }
  }
}

}  // namespace
}  // namespace armature::index
