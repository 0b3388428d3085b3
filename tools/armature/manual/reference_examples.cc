#include <algorithm>
#include <array>

#include "tools/armature/manual/reference_page.h"

namespace armature::cli {
namespace {

constexpr auto kStopped = ExamplePlace::kStopped;
constexpr auto kElsewhere = ExamplePlace::kElsewhere;

// One for each command. They work in any order but for those of backup, which are in the order of their paths.
constexpr CommandExample kExamples[] = {
    {"advise", "armature advise docs/examples/advise/orders.json\n"},
    {"archive list", "armature archive list --dir archive\n", kStopped},
    {"archive restore", "armature archive restore --dir archive --at latest --data-dir then\n", kStopped},
    {"archive restore-table",
     "armature archive restore-table --table-name Thread --target-table-name Thread-before "
     "--at 2026-01-31T12:00:00Z --wait\n",
     kElsewhere},
    {"archive verify", "armature archive verify --dir archive\n", kStopped},
    {"backup cancel", "armature backup cancel --job 17\n", kElsewhere},
    {"backup create", "armature backup create --keep 7\n"},
    {"backup delete", "armature backup create --note old\narmature backup delete --dir backups --id 2 --yes\n"},
    {"backup list", "armature backup list\n"},
    {"backup restore", "armature backup restore --dir backups --id 1 --data-dir restored\n"},
    {"backup restore-table",
     "armature backup restore-table --id 1 --table-name Thread --target-table-name Thread-then --wait\n"},
    {"backup verify", "armature backup verify --dir backups\n"},
    {"batch-get", R"(armature batch-get --request-items '{"orders-table": {"Keys": [{"order_id": {"S": "KSUID1"}}]}}')"
                  "\n"},
    {"batch-write",
     R"(armature batch-write --request-items '{"orders-table": [{"PutRequest": {"Item": {"order_id": {"S": "K7"}}}}]}')"
     "\n"},
    {"completion", "source <(armature completion bash)\n"},
    {"copy", "armature copy --from eu-prod --to http://127.0.0.1:7701 orders\n", kElsewhere},
    {"count", "armature count Thread --where 'Replies > 2'\n"},
    {"create", "armature create visits --key site,at:N --index 'ByUser=user | at:N (keys)'\n"},
    {"credentials new", "armature credentials new --policy reader\n"},
    {"del", "armature put orders-table '{\"order_id\": \"K8\"}'\narmature del orders-table K8\n"},
    {"demo", "armature demo --yes\n"},
    {"describe", "armature describe orders-table\n"},
    {"doctor", "armature doctor\n"},
    {"drop", "armature create notes --key id\narmature drop notes --yes\n"},
    {"export",
     "armature export Thread --to - --where 'Replies > 2' >threads.jsonl\narmature export Thread --to thread\n"},
    {"get", "armature get orders-table KSUID1 --select order_id,amount\n"},
    {"hot-keys", "armature hot-keys Thread --enable\narmature hot-keys Thread --by write\n"},
    {"import", "armature export GameScores --to scores\narmature import scores --table-name ScoresCopy\n"},
    {"index add", "armature index add orders-table 'ByDate=order_date | amount:N'\n"},
    {"index drop", "armature index drop Business BusinessTypeIndex --yes\n"},
    {"index rebuild", "armature index rebuild --table-name GameScores --index-name GameTitleIndex --yes\n"},
    {"index status", "armature index status --table-name GameScores\n"},
    {"index violations", "armature index violations --table-name GameScores --index-name GameTitleIndex\n"},
    {"inspect catalog", "armature inspect catalog --data-dir data\n", kStopped},
    {"inspect directory", "armature inspect directory --data-dir data\n", kStopped},
    {"inspect key", "armature inspect key b3b91bbd3061000122828c\n"},
    {"inspect log", "armature inspect log --data-dir data --limit 5\n", kStopped},
    {"inspect meta", "armature inspect meta --data-dir data\n", kStopped},
    {"inspect rows", "armature inspect rows --data-dir data --table-name GameScores --limit 5\n", kStopped},
    {"inspect stream", "armature inspect stream --data-dir data --limit 5\n", kStopped},
    {"item delete", "armature item delete orders-table --key '{\"order_id\": \"K9\"}'\n"},
    {"item get", "armature item get orders-table --key '{\"order_id\": \"KSUID1\"}' --consistent-read\n"},
    {"item put", "armature item put orders-table --item '{\"order_id\": \"K9\", \"amount\": 12}'\n"},
    {"item update",
     "armature item update orders-table --key '{\"order_id\": \"K9\"}' --update-expression 'SET amount = :a' \\\n"
     "    --expression-attribute-values '{\":a\": 13}'\n"},
    {"load",
     "printf 'order_id,amount\\nK1,5\\nK2,7\\n' >orders.csv\narmature load orders-table --types amount=N orders.csv\n"},
    {"ls", "armature ls -l\n"},
    {"man", "armature man >armature.1\n"},
    {"policy delete", "armature policy delete --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread\n"},
    {"policy get", "armature policy get --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread\n", kElsewhere},
    {"policy put",
     "armature policy put --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --policy @policy.json\n",
     kElsewhere},
    {"put",
     "armature put orders-table '{\"order_id\": \"K9\", \"amount\": 12.5}' --if 'attribute_not_exists(draft)'\n"},
    {"query", "armature query GameScores/GameTitleIndex 'Galaxy Invaders' 'TopScore>100' --reverse -n 5\n"},
    {"recover", "armature recover data\n", kStopped},
    {"running", "armature running\n"},
    {"scan", "armature scan Thread --where 'contains(Tags, \"bucket\")' --select Subject,Replies --output csv\n"},
    {"schema apply", "echo 'CREATE TABLE notes (id S PRIMARY KEY);' >notes.sql\narmature schema apply notes.sql\n"},
    {"server info", "armature server info\n"},
    {"slow", "armature slow\n"},
    {"sql", "armature sql \"SELECT ForumName, COUNT(*) AS n FROM Thread GROUP BY ForumName ORDER BY n DESC\"\n"},
    {"status", "armature status\n"},
    {"store copy", "armature store copy data rados://armature/orders\n", kElsewhere},
    {"store fsck", "armature store fsck rados://armature/orders\n", kElsewhere},
    {"store gc", "armature store gc rados://armature/orders\n", kElsewhere},
    {"store handover", "armature store handover rados://armature/orders --wait 30\n", kElsewhere},
    {"store status", "armature store status rados://armature/orders\n", kElsewhere},
    {"stream describe",
     "armature create logins --key id --stream\narmature stream list\n"
     "arn=$(armature stream list | jq -r '.Streams[0].StreamArn')\narmature stream describe --stream-arn \"$arn\"\n",
     kElsewhere},
    {"stream list", "armature stream list\n"},
    {"stream read",
     "armature create clicks --key id --stream\narmature put clicks '{\"id\": \"1\"}'\n"
     "armature stream read --table-name clicks --limit 1\n"},
    {"table create",
     "armature table create albums --key-schema AttributeName=id,KeyType=HASH \\\n"
     "    --attribute-definitions AttributeName=id,AttributeType=S --billing-mode PAY_PER_REQUEST --wait\n"},
    {"table delete", "armature create pages --key id\narmature table delete pages --wait --yes\n"},
    {"table describe", "armature table describe Thread\n"},
    {"table list", "armature table list --limit 10\n"},
    {"table tag",
     "armature table tag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --tags Key=team,Value=blue\n"},
    {"table tags", "armature table tags --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread\n"},
    {"table ttl", "armature table ttl Thread\n"},
    {"table untag",
     "armature table untag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --tag-keys team\n"},
    {"table update", "armature table update Thread --deletion-protection-enabled\n"},
    {"tail",
     "armature create events --key id --stream\narmature put events '{\"id\": \"1\"}'\n"
     "armature tail events --from oldest --limit 1\n"},
    {"top", "armature top --once\n"},
    {"transact get",
     R"(armature transact get --transact-items '[{"Get": {"TableName": "orders-table", "Key": {"order_id": {"S": "KSUID1"}}}}]')"
     "\n"},
    {"transact write",
     R"(armature transact write --transact-items '[{"Put": {"TableName": "orders-table", "Item": {"order_id": {"S": "K3"}}}}]')"
     "\n"},
    {"truncate", "armature truncate CustomerOrders --yes\n"},
    {"ttl", "armature ttl Thread --enable ExpiresAt\n"},
    {"update", "armature update orders-table KSUID1 --set 'amount += 5, note = \"late\"' --if 'status = \"ACTIVE\"'\n"},
    {"use", "armature use GameScores\narmature count\narmature use -\n"},
    {"verify", "armature verify --table-name Thread\n"},
    {"watch",
     "armature create changes --key id --stream\narmature put changes '{\"id\": \"1\"}'\n"
     "armature watch changes --from oldest --limit 1\n"},
};

}  // namespace

CommandExample ExampleOf(std::string_view path) {
  const auto* const found = std::find_if(std::begin(kExamples), std::end(kExamples),
                                         [path](const CommandExample& example) { return example.path == path; });
  return found == std::end(kExamples) ? CommandExample{path, ""} : *found;
}

}  // namespace armature::cli
