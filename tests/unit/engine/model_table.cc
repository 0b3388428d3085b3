#include "tests/unit/engine/model_table.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine {
namespace {

using Kind = ModelKeyFault::Kind;

constexpr char kInvalid[] = "One or more parameter values were invalid: ";
constexpr char kNotValid[] = "One or more parameter values are not valid. ";

std::string TypeText(const ModelKeyspace& index, const std::string& attribute, const Scalar& value) {
  return std::string(kInvalid) + "Type mismatch for Index Key " + attribute +
         " Expected: " + index.types.at(attribute) + " Actual: " + value.type + " IndexName: " + *index.index_name;
}

std::string EmptyText(const Scalar& value) {
  return std::string("The AttributeValue for a key attribute cannot contain an empty ") +
         (value.type == 'S' ? "string" : "binary") + " value.";
}

bool IsPartitionOf(const ModelKeyspace& index, const std::string& attribute) {
  return std::find(index.partition.begin(), index.partition.end(), attribute) != index.partition.end();
}

std::string PutText(const ModelKeyspace& index, const ModelKeyFault& fault, const ModelItem& item) {
  switch (fault.kind) {
    case Kind::kType:
      return TypeText(index, fault.attribute, item.at(fault.attribute));
    case Kind::kEmpty:
      return std::string(kNotValid) + "A value specified for a secondary index key is not supported. " +
             EmptyText(item.at(fault.attribute)) + " IndexName: " + *index.index_name +
             ", IndexKey: " + fault.attribute;
    case Kind::kTooLong:
      break;
  }
  return std::string(kInvalid) + (IsPartitionOf(index, fault.attribute)
                                      ? "Size of hashkey has exceeded the maximum size limit of2048 bytes"
                                      : "Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
}

std::string UpdateText(const ModelKeyFault& fault, const ModelItem& now) {
  const std::string attempted = "The update expression attempted to update ";
  switch (fault.kind) {
    case Kind::kType:
      return attempted + "the secondary index key to unsupported type";
    case Kind::kEmpty:
      return kNotValid + attempted + "a secondary index key to a value that is not supported. " +
             EmptyText(now.at(fault.attribute));
    case Kind::kTooLong:
      break;
  }
  return attempted + "the secondary index key beyond allowed size limits";
}

// `now` without attributes that an update left unchanged and that were already unfit.
ModelItem WithoutOldFaults(const ModelKeyspace& index, const std::set<std::string>& set, const ModelItem& now) {
  ModelItem judged;
  for (const auto& [name, value] : now) {
    if (!set.contains(name)) judged[name] = value;
  }
  for (const ModelKeyFault& fault : index.FaultsOf(judged)) {
    if (fault.kind == Kind::kTooLong) {
      const bool in_partition = IsPartitionOf(index, fault.attribute);
      for (const std::string& name : in_partition ? index.partition : index.sort) judged.erase(name);
    } else {
      judged.erase(fault.attribute);
    }
  }
  for (const std::string& name : set) judged[name] = now.at(name);
  return judged;
}

model::IndexDefinition DefinitionOf(const ModelKeyspace& index, const std::vector<std::string>& table_key) {
  std::vector<model::KeyElementDefinition> key;
  for (const std::string& name : index.partition) key.push_back({name, "HASH"});
  for (const std::string& name : index.sort) key.push_back({name, "RANGE"});
  if (!index.projected.has_value()) return IndexOf(*index.index_name, key, "ALL");
  std::vector<std::string> included;
  for (const std::string& name : *index.projected) {
    const bool of_table = std::find(table_key.begin(), table_key.end(), name) != table_key.end();
    if (!of_table && !index.types.contains(name)) included.push_back(name);
  }
  return IndexOf(*index.index_name, key, included.empty() ? "KEYS_ONLY" : "INCLUDE", included);
}

std::vector<model::AttributeDefinition> Attributes(const std::map<std::string, char>& types) {
  std::vector<model::AttributeDefinition> definitions;
  definitions.reserve(types.size());
  for (const auto& [name, type] : types) definitions.push_back({name, std::string(1, type)});
  return definitions;
}

}  // namespace

ModelTable::ModelTable(std::string name, std::vector<ModelKeyspace> keyspaces)
    : name_(std::move(name)), keyspaces_(std::move(keyspaces)) {}

const ModelKeyspace& ModelTable::Find(const std::string& index_name) const {
  const auto found = std::find_if(keyspaces_.begin(), keyspaces_.end(),
                                  [&](const ModelKeyspace& keyspace) { return keyspace.index_name == index_name; });
  CHECK(found != keyspaces_.end()) << index_name;
  return *found;
}

std::vector<std::string> ModelTable::GlobalIndexNames() const {
  std::vector<std::string> names;
  for (const ModelKeyspace& keyspace : keyspaces_) {
    if (keyspace.global) names.push_back(*keyspace.index_name);
  }
  return names;
}

std::vector<std::string> ModelTable::KeyNames() const {
  std::vector<std::string> names = keyspaces_.front().partition;
  names.insert(names.end(), keyspaces_.front().sort.begin(), keyspaces_.front().sort.end());
  return names;
}

std::map<std::string, char> ModelTable::KeyTypes() const {
  std::map<std::string, char> types;
  for (const ModelKeyspace& keyspace : keyspaces_) types.insert(keyspace.types.begin(), keyspace.types.end());
  return types;
}

std::optional<ModelItem> ModelTable::Row(const ModelItem& item) const {
  const auto found = rows_.find(Pick(item, KeyNames()));
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

void ModelTable::SetRow(const ModelItem& key, const std::optional<ModelItem>& now) {
  if (now.has_value()) {
    rows_[Pick(key, KeyNames())] = *now;
  } else {
    rows_.erase(Pick(key, KeyNames()));
  }
}

std::vector<ModelItem> ModelTable::EntriesOf(const ModelKeyspace& keyspace) const {
  std::vector<ModelItem> entries;
  for (const auto& [key, item] : rows_) {
    if (std::optional<ModelItem> entry = keyspace.EntryOf(item)) entries.push_back(*std::move(entry));
  }
  return entries;
}

void ModelTable::SetFilled(const std::string& index_name) {
  for (ModelKeyspace& keyspace : keyspaces_) {
    if (keyspace.index_name == index_name) keyspace.filling = false;
  }
}

void ModelTable::DropIndex(const std::string& index_name) {
  std::erase_if(keyspaces_, [&](const ModelKeyspace& keyspace) { return keyspace.index_name == index_name; });
}

model::TableDefinition ModelTable::Definition() const {
  model::TableDefinition definition;
  definition.table_name = name_;
  definition.billing_mode = "PAY_PER_REQUEST";
  definition.attribute_definitions = Attributes(KeyTypes());
  const ModelKeyspace& own = keyspaces_.front();
  for (const std::string& name : own.partition) definition.key_schema.push_back({name, "HASH"});
  for (const std::string& name : own.sort) definition.key_schema.push_back({name, "RANGE"});
  for (const ModelKeyspace& index : keyspaces_) {
    if (!index.index_name.has_value()) continue;
    std::optional<std::vector<model::IndexDefinition>>& group =
        index.global ? definition.global_indexes : definition.local_indexes;
    if (!group.has_value()) group.emplace();
    group->push_back(DefinitionOf(index, KeyNames()));
  }
  return definition;
}

model::TableUpdate ModelTable::Creation(const std::string& index_name) const {
  const ModelKeyspace& index = Find(index_name);
  model::TableUpdate update;
  update.table_name = name_;
  update.attribute_definitions = Attributes(index.types);
  update.global_index_updates = {{.update = {}, .create = DefinitionOf(index, KeyNames()), .remove = {}}};
  return update;
}

model::TableUpdate ModelTable::Deletion(const std::string& index_name) const {
  model::TableUpdate update;
  update.table_name = name_;
  update.global_index_updates = {{.update = {}, .create = {}, .remove = index_name}};
  return update;
}

template <class Fn>
std::set<std::string> ModelTable::FirstRefusals(Fn texts_of) const {
  std::map<std::string, std::set<std::string>> by_name;
  for (const ModelKeyspace& index : keyspaces_) {
    if (!index.index_name.has_value()) continue;
    std::set<std::string> texts = texts_of(index);
    if (!texts.empty()) by_name[*index.index_name] = std::move(texts);
  }
  return by_name.empty() ? std::set<std::string>() : by_name.begin()->second;
}

std::set<std::string> ModelTable::RefusalsOfPut(const ModelItem& item) const {
  return FirstRefusals([&item](const ModelKeyspace& index) {
    std::set<std::string> texts;
    for (const ModelKeyFault& fault : index.FaultsOf(item)) texts.insert(PutText(index, fault, item));
    return texts;
  });
}

std::set<std::string> ModelTable::RefusalsOfConstants(const ModelItem& constants) const {
  return FirstRefusals([&constants](const ModelKeyspace& index) {
    std::set<std::string> texts;
    for (const ModelKeyFault& fault : index.FaultsOf(constants)) {
      if (fault.kind == Kind::kType) texts.insert(TypeText(index, fault.attribute, constants.at(fault.attribute)));
    }
    return texts;
  });
}

std::set<std::string> ModelTable::RefusalsOfUpdate(const std::set<std::string>& set, const ModelItem& now) const {
  return FirstRefusals([&](const ModelKeyspace& index) {
    std::set<std::string> texts;
    for (const ModelKeyFault& fault : index.FaultsOf(WithoutOldFaults(index, set, now))) {
      texts.insert(UpdateText(fault, now));
    }
    return texts;
  });
}

}  // namespace armature::engine
