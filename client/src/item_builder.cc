#include "armature/client/item_builder.h"

namespace armature::client {

AttributeValue S(std::string_view text) {
  AttributeValue value;
  value.set_s(std::string(text));
  return value;
}

AttributeValue N(std::string_view number) {
  AttributeValue value;
  value.set_n(std::string(number));
  return value;
}

AttributeValue B(std::string_view bytes) {
  AttributeValue value;
  value.set_b(std::string(bytes));
  return value;
}

AttributeValue Bool(bool truth) {
  AttributeValue value;
  value.set_bool_(truth);
  return value;
}

AttributeValue Null() {
  AttributeValue value;
  value.set_null(true);
  return value;
}

AttributeValue SS(const std::vector<std::string>& texts) {
  AttributeValue value;
  value.mutable_ss()->mutable_values()->Add(texts.begin(), texts.end());
  return value;
}

AttributeValue NS(const std::vector<std::string>& numbers) {
  AttributeValue value;
  value.mutable_ns()->mutable_values()->Add(numbers.begin(), numbers.end());
  return value;
}

AttributeValue BS(const std::vector<std::string>& byte_strings) {
  AttributeValue value;
  value.mutable_bs()->mutable_values()->Add(byte_strings.begin(), byte_strings.end());
  return value;
}

AttributeValue L(std::vector<AttributeValue> values) {
  AttributeValue value;
  auto* list = value.mutable_l();
  for (AttributeValue& element : values) *list->add_values() = std::move(element);
  return value;
}

AttributeValue M(std::initializer_list<std::pair<std::string_view, AttributeValue>> entries) {
  AttributeValue value;
  auto* map = value.mutable_m()->mutable_entries();
  for (const auto& [name, entry] : entries) (*map)[std::string(name)] = entry;
  return value;
}

ItemBuilder& ItemBuilder::Set(std::string_view name, AttributeValue value) & {
  (*item_.mutable_attributes())[std::string(name)] = std::move(value);
  return *this;
}

ItemBuilder&& ItemBuilder::Set(std::string_view name, AttributeValue value) && {
  (*item_.mutable_attributes())[std::string(name)] = std::move(value);
  return std::move(*this);
}

}  // namespace armature::client
