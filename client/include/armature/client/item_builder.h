#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ITEM_BUILDER_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ITEM_BUILDER_H_

// Short ways to write values and items.
//
//   Item item = ItemBuilder()
//                   .Set("user", S("ann"))
//                   .Set("visits", N(3))
//                   .Set("tags", SS({"new", "eu"}))
//                   .Set("address", M({{"city", S("Bonn")}}))
//                   .Build();
//
// These functions check nothing. The daemon refuses wrong values, such as N("abc").

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/types.pb.h"

namespace armature::client {

using Item = api::v1::Item;
using AttributeValue = api::v1::AttributeValue;

AttributeValue S(std::string_view text);

// A number as text, such as "-12.5", or an integer. There is no overload for floating-point numbers, because most
// decimal fractions have no equal floating-point number.
AttributeValue N(std::string_view number);
template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) AttributeValue N(T number) {
  return N(std::string_view(std::to_string(number)));
}

AttributeValue B(std::string_view bytes);
AttributeValue Bool(bool value);
AttributeValue Null();

// Sets.
AttributeValue SS(const std::vector<std::string>& texts);
AttributeValue NS(const std::vector<std::string>& numbers);
AttributeValue BS(const std::vector<std::string>& byte_strings);

AttributeValue L(std::vector<AttributeValue> values);
AttributeValue M(std::initializer_list<std::pair<std::string_view, AttributeValue>> entries);

// Thread-safety: thread-compatible.
class ItemBuilder {
 public:
  // A second value for one name replaces the first.
  ItemBuilder& Set(std::string_view name, AttributeValue value) &;
  ItemBuilder&& Set(std::string_view name, AttributeValue value) &&;

  Item Build() const& { return item_; }
  Item Build() && { return std::move(item_); }

 private:
  Item item_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ITEM_BUILDER_H_
