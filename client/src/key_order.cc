#include "client/src/key_order.h"

#include "storage/model/number.h"

namespace armature::client {

std::weak_ordering CompareKeyValues(const AttributeValue& a, const AttributeValue& b) {
  if (a.value_case() != b.value_case()) return a.value_case() <=> b.value_case();
  switch (a.value_case()) {
    case AttributeValue::kN:
      return model::CompareCanonicalNumbers(a.n(), b.n());
    case AttributeValue::kS:
      return a.s().compare(b.s()) <=> 0;  // as unsigned bytes
    case AttributeValue::kB:
      return a.b().compare(b.b()) <=> 0;
    default:
      return std::weak_ordering::equivalent;
  }
}

std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::weak_ordering order = CompareKeyValues(a.attributes().at(name), b.attributes().at(name));
    if (std::is_neq(order)) return order;
  }
  return std::weak_ordering::equivalent;
}

}  // namespace armature::client
