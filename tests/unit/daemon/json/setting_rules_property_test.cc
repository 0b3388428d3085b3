// A setting that one request refuses is refused by every request that can carry it: CreateTable, ImportTable,
// UpdateTable of a table, creations and updates of indexes, and restores. Each test takes all values of a setting
// through all the ways, as documents, and compares the verdicts with the documented one. The texts are in
// tests/conformance/cases.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "engine/backup/restored_table.h"
#include "engine/backup/table_backup_requests.h"
#include "storage/base/api_error.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"
#include "tests/unit/daemon/json/document_test_util.h"
#include "tests/unit/daemon/json/json_api_test_util.h"

namespace armature::daemon::setting_rules_property_test {

namespace v1 = ::armature::api::v1;

constexpr std::string_view kKeys = R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                                   R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}])";
constexpr std::string_view kIndexKey = R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}])";
constexpr std::string_view kProjection = R"("Projection":{"ProjectionType":"ALL"})";
constexpr std::string_view kUnits = R"("ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6})";
constexpr std::string_view kNoDirectory = "This server has no directory";

enum class Mode { kOnDemand, kProvisioned };

constexpr Mode kModes[] = {Mode::kOnDemand, Mode::kProvisioned};

// Members that a table of this mode needs.
std::string Billing(Mode mode) {
  return mode == Mode::kOnDemand ? R"("BillingMode":"PAY_PER_REQUEST")" : std::string(kUnits);
}

std::string Members(const std::vector<std::string>& members) {
  std::string text;
  for (const std::string& member : members) {
    if (!member.empty()) text += Cat(text.empty() ? "" : ",", member);
  }
  return text;
}

// An index "Global" with further members.
std::string IndexWith(Mode mode, const std::string& members) {
  const bool needs_units = mode == Mode::kProvisioned && members.find("ProvisionedThroughput") == std::string::npos;
  return Cat("{",
             Members({R"("IndexName":"Global")", std::string(kIndexKey), std::string(kProjection), members,
                      needs_units ? std::string(kUnits) : ""}),
             "}");
}

// The names of the requests that refused a setting, and of those that accepted it.
struct Verdicts {
  std::map<std::string, std::string> refused;  // with their errors
  std::vector<std::string> accepted;

  void Add(const std::string& way, const absl::Status& status) {
    if (status.ok()) {
      accepted.push_back(way);
      return;
    }
    const std::optional<ApiError> error = GetApiError(status);
    ASSERT_TRUE(error.has_value()) << way << ": " << status;
    EXPECT_EQ(error->type, ApiErrorType::kValidation) << way << ": " << status;
    EXPECT_FALSE(error->message.empty()) << way;
    refused[way] = error->message;
  }
};

void ExpectVerdict(const std::string& setting, bool is_valid, const Verdicts& verdicts) {
  std::string told;
  for (const auto& [way, text] : verdicts.refused) told += Cat("\n  refused by ", way, ": ", text);
  for (const std::string& way : verdicts.accepted) told += Cat("\n  accepted by ", way);
  EXPECT_TRUE(is_valid ? verdicts.refused.empty() : verdicts.accepted.empty())
      << setting << " is " << (is_valid ? "valid" : "invalid") << told;
}

class SettingRules : public JsonTest {
 protected:
  // The table of a valid CreateTable with these members, as it is kept.
  static model::TableDescriptor Kept(const std::string& members) {
    absl::StatusOr<model::TableDescriptor> made = BuildOf(members);
    EXPECT_TRUE(made.ok()) << members << made.status();
    made->state = model::TableState::kActive;
    for (model::IndexDescriptor& index : made->global_indexes) index.state = model::IndexState::kActive;
    return *std::move(made);
  }

  static absl::Status Create(const std::string& members) { return BuildOf(members).status(); }

  // The table is not made, because the daemon has no directory to import from.
  absl::Status Import(const std::string& members) {
    const std::string body =
        Body("ImportTable", Cat(R"({"InputFormat":"DYNAMODB_JSON","S3BucketSource":{"S3Bucket":"bucket"},)",
                                R"("TableCreationParameters":{"TableName":"Cats",)", kKeys, ",", members, "}}"));
    if (body.find(kNoDirectory) != std::string::npos) return absl::OkStatus();
    EXPECT_NE(body.find("ValidationException"), std::string::npos) << body;
    return ValidationError(body);
  }

  static absl::Status Update(model::TableDescriptor table, const std::string& members) {
    const absl::StatusOr<v1::UpdateTableRequest> message =
        ReadAs<v1::UpdateTableRequest>(Cat(R"({"TableName":"Cats",)", members, "}"));
    if (!message.ok()) return message.status();
    const model::TableUpdate update = ToTableUpdate(*message);
    const absl::Status checked = model::CheckTableUpdate(update);
    return checked.ok() ? model::ApplyTableUpdate(update, 1, &table) : checked;
  }

  static absl::Status Restore(const model::TableDescriptor& table, const std::string& members) {
    const absl::StatusOr<v1::RestoreTableFromBackupRequest> message = ReadAs<v1::RestoreTableFromBackupRequest>(
        Cat(R"({"TargetTableName":"Dogs","BackupArn":)",
            R"("arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc",)", members, "}"));
    if (!message.ok()) return message.status();
    const engine::RestoreTableRequest request = ToRestoreTable(*message);
    const absl::Status checked = engine::CheckRestoreTable(request);
    return checked.ok() ? engine::RestoredTable(table, request).status() : checked;
  }

  // All ways of an index with these members.
  Verdicts OfIndex(Mode mode, const std::string& members) {
    const std::string index = IndexWith(mode, members);
    const std::string with_index = Cat(R"("GlobalSecondaryIndexes":[)", index, "]");
    const model::TableDescriptor plain = Kept(Billing(mode));
    Verdicts verdicts;
    verdicts.Add("CreateTable", Create(Members({Billing(mode), with_index})));
    verdicts.Add("ImportTable", Import(Members({Billing(mode), with_index})));
    verdicts.Add("a creation of an index",
                 Update(plain, Cat(R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)",
                                   R"("GlobalSecondaryIndexUpdates":[{"Create":)", index, "}]")));
    return verdicts;
  }

  // A table of this mode with an index.
  static model::TableDescriptor Indexed(Mode mode) {
    return Kept(Members({Billing(mode), Cat(R"("GlobalSecondaryIndexes":[)", IndexWith(mode, ""), "]")}));
  }

 private:
  static absl::StatusOr<model::TableDescriptor> BuildOf(const std::string& members) {
    const absl::StatusOr<v1::CreateTableRequest> message =
        ReadAs<v1::CreateTableRequest>(Cat(R"({"TableName":"Cats",)", kKeys, ",", members, "}"));
    if (!message.ok()) return message.status();
    return model::BuildTableDescriptor(ToTableDefinition(*message));
  }
};

constexpr int64_t kMost = 1'000'000'000'000;

// Two amounts of a throughput, and their document.
struct Amounts {
  std::string text;
  std::optional<int64_t> read;
  std::optional<int64_t> write;

  bool is_empty() const { return !read.has_value() && !write.has_value(); }
  // True if the amounts that are there are not below these, nor above the maximum.
  bool AreWithin(int64_t read_min, int64_t write_min) const {
    const auto is_within = [](const std::optional<int64_t>& amount, int64_t min) {
      return !amount.has_value() || (*amount >= min && *amount <= kMost);
    };
    return is_within(read, read_min) && is_within(write, write_min);
  }
  // -1 removes a maximum, so that only changes may have it.
  bool Remove() const { return read == -1 || write == -1; }
};

// All pairs of these amounts, absent ones too.
std::vector<Amounts> Pairs(std::string_view read, std::string_view write, const std::vector<int64_t>& amounts) {
  std::vector<std::optional<int64_t>> all = {std::nullopt};
  all.insert(all.end(), amounts.begin(), amounts.end());
  std::vector<Amounts> pairs;
  for (const std::optional<int64_t>& first : all) {
    for (const std::optional<int64_t>& second : all) {
      const auto member = [](std::string_view name, const std::optional<int64_t>& amount) {
        return amount.has_value() ? Cat("\"", name, "\":", *amount) : std::string();
      };
      pairs.push_back({Cat("{", Members({member(read, first), member(write, second)}), "}"), first, second});
    }
  }
  return pairs;
}

const std::vector<int64_t>& Bounds() {
  static const auto* const bounds = new std::vector<int64_t>{INT64_MIN + 1, -2, -1, 0, 1, 7, kMost, kMost + 1};
  return *bounds;
}

std::vector<Amounts> Maxima() { return Pairs("MaxReadRequestUnits", "MaxWriteRequestUnits", Bounds()); }

bool IsValidMaximum(Mode mode, const Amounts& maxima) {
  return mode == Mode::kOnDemand && !maxima.is_empty() && maxima.AreWithin(1, 1);
}

TEST_F(SettingRules, OnDemandMaximaOfTables) {
  for (const Mode mode : kModes) {
    const model::TableDescriptor table = Kept(Billing(mode));
    for (const Amounts& value : Maxima()) {
      const std::string member = Cat(R"("OnDemandThroughput":)", value.text);
      Verdicts verdicts;
      verdicts.Add("CreateTable", Create(Members({Billing(mode), member})));
      verdicts.Add("ImportTable", Import(Members({Billing(mode), member})));
      if (!value.Remove()) verdicts.Add("UpdateTable", Update(table, member));
      // A restore ignores an empty maximum.
      if (!value.is_empty())
        verdicts.Add("a restore", Restore(table, Cat(R"("OnDemandThroughputOverride":)", value.text)));
      ExpectVerdict(member, IsValidMaximum(mode, value), verdicts);
    }
  }
}

TEST_F(SettingRules, OnDemandMaximaOfIndexes) {
  for (const Mode mode : kModes) {
    for (const Amounts& value : Maxima()) {
      const std::string member = Cat(R"("OnDemandThroughput":)", value.text);
      Verdicts verdicts = OfIndex(mode, member);
      if (!value.Remove()) {
        verdicts.Add("an update of an index",
                     Update(Indexed(mode),
                            Cat(R"("GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"Global",)", member, "}}]")));
      }
      if (!value.is_empty()) {
        verdicts.Add("a restore",
                     Restore(Indexed(mode), Cat(R"("GlobalSecondaryIndexOverride":[)", IndexWith(mode, member), "]")));
      }
      ExpectVerdict(member, IsValidMaximum(mode, value), verdicts);
    }
  }
}

TEST_F(SettingRules, RemovedMaximaAreAChangeOfWhatIsOnDemand) {
  for (const Mode mode : kModes) {
    const bool is_on_demand = mode == Mode::kOnDemand;
    const std::string member = R"("OnDemandThroughput":{"MaxReadRequestUnits":-1})";
    EXPECT_EQ(Update(Indexed(mode), member).ok(), is_on_demand);
    EXPECT_EQ(
        Update(Indexed(mode), Cat(R"("GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"Global",)", member, "}}]"))
            .ok(),
        is_on_demand);
    EXPECT_FALSE(Create(Members({Billing(mode), member})).ok());
    EXPECT_FALSE(Restore(Indexed(mode), R"("OnDemandThroughputOverride":{"MaxReadRequestUnits":-1})").ok());
  }
}

TEST_F(SettingRules, ProvisionedUnits) {
  for (const Mode mode : kModes) {
    const model::TableDescriptor table = Kept(Billing(mode));
    for (const Amounts& value : Pairs("ReadCapacityUnits", "WriteCapacityUnits", Bounds())) {
      const std::string member = Cat(R"("ProvisionedThroughput":)", value.text);
      const std::string billing = mode == Mode::kOnDemand ? Billing(mode) : R"("BillingMode":"PROVISIONED")";
      Verdicts verdicts = OfIndex(mode, member);
      verdicts.Add("CreateTable of a table", Create(Members({billing, member})));
      verdicts.Add("ImportTable of a table", Import(Members({billing, member})));
      verdicts.Add("UpdateTable", Update(table, member));
      verdicts.Add("a change of the billing mode", Update(Kept(Billing(Mode::kOnDemand)), Members({billing, member})));
      verdicts.Add("an update of an index",
                   Update(Indexed(mode),
                          Cat(R"("GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"Global",)", member, "}}]")));
      verdicts.Add("a restore", Restore(table, Cat(R"("ProvisionedThroughputOverride":)", value.text)));
      verdicts.Add("a restore of an index",
                   Restore(Indexed(mode), Cat(R"("GlobalSecondaryIndexOverride":[)", IndexWith(mode, member), "]")));
      const bool is_whole = value.read.has_value() && value.write.has_value();
      ExpectVerdict(member, mode == Mode::kProvisioned && is_whole && value.AreWithin(1, 1), verdicts);
    }
  }
}

TEST_F(SettingRules, WarmThroughput) {
  const std::vector<int64_t> amounts = {-1, 0, 1, 4, 6, 4000, 11'999, 12'000, kMost + 1};
  for (const Mode mode : kModes) {
    const model::TableDescriptor table = Kept(Billing(mode));
    for (const Amounts& value : Pairs("ReadUnitsPerSecond", "WriteUnitsPerSecond", amounts)) {
      const std::string member = Cat(R"("WarmThroughput":)", value.text);
      // An import has none for its table.
      Verdicts verdicts = OfIndex(mode, member);
      verdicts.Add("CreateTable of a table", Create(Members({Billing(mode), member})));
      verdicts.Add("UpdateTable", Update(table, member));
      verdicts.Add("an update of an index",
                   Update(Indexed(mode),
                          Cat(R"("GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"Global",)", member, "}}]")));
      const bool is_within = mode == Mode::kOnDemand ? value.AreWithin(12'000, 4000) : value.AreWithin(5, 6);
      ExpectVerdict(member, !value.is_empty() && is_within, verdicts);
      EXPECT_FALSE(
          Restore(Indexed(mode), Cat(R"("GlobalSecondaryIndexOverride":[)", IndexWith(mode, member), "]")).ok())
          << "a restore has none";
    }
  }
}

TEST_F(SettingRules, Encryption) {
  // Encrypted with another key than all values, so that each valid value changes it.
  const model::TableDescriptor table = Kept(Members(
      {Billing(Mode::kOnDemand), R"("SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"other"})"}));
  for (const std::string enabled : {"", R"("Enabled":true)", R"("Enabled":false)"}) {
    for (const std::string type : {"", R"("SSEType":"KMS")", R"("SSEType":"AES256")", R"("SSEType":"ROT13")"}) {
      for (const std::string key : {"", R"("KMSMasterKeyId":"key-1")"}) {
        const std::string value = Cat("{", Members({enabled, type, key}), "}");
        const std::string member = Cat(R"("SSESpecification":)", value);
        Verdicts verdicts;
        verdicts.Add("CreateTable", Create(Members({Billing(Mode::kOnDemand), member})));
        verdicts.Add("ImportTable", Import(Members({Billing(Mode::kOnDemand), member})));
        verdicts.Add("UpdateTable", Update(table, member));
        verdicts.Add("a restore", Restore(table, Cat(R"("SSESpecificationOverride":)", value)));
        const bool is_enabled = enabled.find("true") != std::string::npos;
        const bool is_kms = type.find("KMS") != std::string::npos;
        const bool is_valid = is_enabled ? is_kms || (type.empty() && key.empty()) : type.empty() && key.empty();
        ExpectVerdict(member, is_valid, verdicts);
      }
    }
  }
}

TEST_F(SettingRules, WordsOfEnumerations) {
  for (const std::string word : {"PROVISIONED", "PAY_PER_REQUEST", "FREE", ""}) {
    const std::string units = word == "PROVISIONED" ? std::string(kUnits) : "";
    const std::string member = Members({Cat(R"("BillingMode":")", word, "\""), units});
    Verdicts verdicts;
    verdicts.Add("CreateTable", Create(member));
    verdicts.Add("ImportTable", Import(member));
    verdicts.Add("UpdateTable", Update(Kept(Billing(Mode::kOnDemand)), member));
    const std::string override_units =
        units.empty() ? "" : R"("ProvisionedThroughputOverride":{"ReadCapacityUnits":5,"WriteCapacityUnits":6})";
    verdicts.Add("a restore", Restore(Kept(Billing(Mode::kOnDemand)),
                                      Members({Cat(R"("BillingModeOverride":")", word, "\""), override_units})));
    ExpectVerdict(member, word == "PROVISIONED" || word == "PAY_PER_REQUEST", verdicts);
  }
  for (const std::string word : {"STANDARD", "STANDARD_INFREQUENT_ACCESS", "COLD", ""}) {
    const std::string member = Cat(R"("TableClass":")", word, "\"");
    Verdicts verdicts;
    verdicts.Add("CreateTable", Create(Members({Billing(Mode::kOnDemand), member})));
    verdicts.Add("UpdateTable", Update(Kept(Billing(Mode::kOnDemand)), member));
    ExpectVerdict(member, word.starts_with("STANDARD"), verdicts);
  }
  for (const std::string word : {"NEW_IMAGE", "KEYS_ONLY", "ALL_IMAGES", ""}) {
    const std::string member = Cat(R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":")", word, "\"}");
    Verdicts verdicts;
    verdicts.Add("CreateTable", Create(Members({Billing(Mode::kOnDemand), member})));
    verdicts.Add("UpdateTable", Update(Kept(Billing(Mode::kOnDemand)), member));
    ExpectVerdict(member, word == "NEW_IMAGE" || word == "KEYS_ONLY", verdicts);
  }
}

TEST_F(SettingRules, DefinitionsOfIndexes) {
  const auto index = [](std::string_view name, std::string_view key, std::string_view projection) {
    return Cat(R"({"IndexName":")", name, R"(","KeySchema":[)", key, R"(],"Projection":)", projection, "}");
  };
  const std::string hash = R"({"AttributeName":"p","KeyType":"HASH"})";
  const std::string range = R"({"AttributeName":"p","KeyType":"RANGE"})";
  const std::string all = R"({"ProjectionType":"ALL"})";
  std::string names;
  for (int i = 0; i < 21; ++i) names += Cat(i == 0 ? "" : ",", "\"n", i, "\"");
  const std::vector<std::string> refused = {
      index("ab", hash, all),
      index(std::string(256, 'i'), hash, all),
      index("a b", hash, all),
      index("Global", range, all),
      index("Global", Cat(hash, ",", range), all),
      index("Global", Cat(hash, ",", hash), all),
      index("Global", R"({"AttributeName":"p","KeyType":"SORT"})", all),
      index("Global", R"({"AttributeName":"p"})", all),
      index("Global", "", all),
      index("Global", hash, "{}"),
      index("Global", hash, R"({"ProjectionType":"SOME"})"),
      index("Global", hash, R"({"ProjectionType":"ALL","NonKeyAttributes":["n"]})"),
      index("Global", hash, R"({"ProjectionType":"INCLUDE"})"),
      index("Global", hash, R"({"ProjectionType":"INCLUDE","NonKeyAttributes":[]})"),
      index("Global", hash, R"({"ProjectionType":"INCLUDE","NonKeyAttributes":["n","n"]})"),
      index("Global", hash, R"({"ProjectionType":"INCLUDE","NonKeyAttributes":[""]})"),
      index("Global", hash, Cat(R"({"ProjectionType":"INCLUDE","NonKeyAttributes":[)", names, "]}")),
  };
  for (const std::string& definition : refused) {
    const std::string member = Cat(R"("GlobalSecondaryIndexes":[)", definition, "]");
    EXPECT_FALSE(Create(Members({Billing(Mode::kOnDemand), member})).ok()) << definition;
    EXPECT_FALSE(Import(Members({Billing(Mode::kOnDemand), member})).ok()) << definition;
    EXPECT_FALSE(Update(Kept(Billing(Mode::kOnDemand)),
                        Cat(R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)",
                            R"("GlobalSecondaryIndexUpdates":[{"Create":)", definition, "}]"))
                     .ok())
        << definition;
    EXPECT_FALSE(Restore(Indexed(Mode::kOnDemand), Cat(R"("GlobalSecondaryIndexOverride":[)", definition, "]")).ok())
        << definition;
  }
}

}  // namespace armature::daemon::setting_rules_property_test
