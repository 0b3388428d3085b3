#ifndef ARMATURE_DAEMON_API_ENUM_TEXT_H_
#define ARMATURE_DAEMON_API_ENUM_TEXT_H_

// Enumerations of requests as the texts that the engine takes and error texts repeat.

#include <string>
#include <string_view>

#include "armature/api/v1/items.pb.h"

namespace armature::daemon {

// "RETURN_VALUES_ALL_OLD" without its prefix; empty for UNSPECIFIED; an unknown number as decimal text.
inline std::string EnumText(std::string_view name, std::string_view prefix, int number) {
  if (number == 0) return {};
  if (name.empty()) return std::to_string(number);
  name.remove_prefix(prefix.size());
  return std::string(name);
}

inline std::string Text(api::v1::ReturnConsumedCapacity value) {
  return EnumText(api::v1::ReturnConsumedCapacity_Name(value), "RETURN_CONSUMED_CAPACITY_", value);
}
inline std::string Text(api::v1::ReturnValues value) {
  return EnumText(api::v1::ReturnValues_Name(value), "RETURN_VALUES_", value);
}
inline std::string Text(api::v1::ReturnItemCollectionMetrics value) {
  return EnumText(api::v1::ReturnItemCollectionMetrics_Name(value), "RETURN_ITEM_COLLECTION_METRICS_", value);
}
inline std::string Text(api::v1::ReturnValuesOnConditionCheckFailure value) {
  return EnumText(api::v1::ReturnValuesOnConditionCheckFailure_Name(value), "RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_",
                  value);
}
inline std::string Text(api::v1::Select value) { return EnumText(api::v1::Select_Name(value), "SELECT_", value); }
inline std::string Text(api::v1::ConditionalOperator value) {
  return EnumText(api::v1::ConditionalOperator_Name(value), "CONDITIONAL_OPERATOR_", value);
}
inline std::string Text(api::v1::ComparisonOperator value) {
  return EnumText(api::v1::ComparisonOperator_Name(value), "COMPARISON_OPERATOR_", value);
}
inline std::string Text(api::v1::AttributeAction value) {
  return EnumText(api::v1::AttributeAction_Name(value), "ATTRIBUTE_ACTION_", value);
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ENUM_TEXT_H_
