#!/usr/bin/env bash
# Makes the sample tables with their items by `armature demo`, and shows commands to try.
#
#   tools/demo/load.sh ENDPOINT ARMATURE
#
#   ENDPOINT   of the daemon, such as 127.0.0.1:7700
#   ARMATURE   path of the command line tool
#
# May be repeated: tables that exist stay, and their sample items get their first values again.
set -euo pipefail
if [[ $# -ne 2 ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
endpoint=$1
armature=$2
export ARMATURE_PROFILE=  # the user's profiles are about other daemons

"$armature" --endpoint "$endpoint" --output json --yes demo >/dev/null
"$armature" --endpoint "$endpoint" --output table ls

cat <<TRY

Commands to try:

  # Threads of a forum by their last post, from a local index.
  $armature --endpoint $endpoint --output table query --table-name Thread --index-name LastPostIndex \\
      --key-condition-expression 'ForumName = :v_forum and LastPostDateTime between :v_start and :v_end' \\
      --projection-expression 'Subject, LastPostDateTime, Replies' \\
      --expression-attribute-values '{":v_forum": {"S": "EC2"},
          ":v_start": {"S": "2015-08-31T00:00:00.000Z"}, ":v_end": {"S": "2015-11-31T00:00:00.000Z"}}'

  # The best scores of a game, from a global index.
  $armature --endpoint $endpoint --output table query --table-name GameScores --index-name GameTitleIndex \\
      --key-condition-expression 'GameTitle = :v_title' --no-scan-index-forward \\
      --projection-expression 'UserId, TopScore' \\
      --expression-attribute-values '{":v_title": {"S": "Meteor Blasters"}}'

  # Pending orders of one day above an amount, from an index with three sort attributes.
  $armature --endpoint $endpoint query --table-name orders-table --index-name OrdersByStatusDateAmount \\
      --key-condition-expression \\
          'customer_id = :cust AND #status = :status AND order_date = :date AND amount > :min_amount' \\
      --expression-attribute-names '{"#status": "status"}' \\
      --expression-attribute-values '{":cust": {"S": "1A2B3C"}, ":status": {"S": "PENDING"},
          ":date": {"S": "2025-11-04"}, ":min_amount": {"N": "100"}}'

  # The same customer and status from an index with two partition attributes.
  $armature --endpoint $endpoint query --table-name orders-table --index-name OrdersByOrgAccountStatus \\
      --key-condition-expression 'customer_id = :cust AND #status = :status' \\
      --expression-attribute-names '{"#status": "status"}' \\
      --expression-attribute-values '{":cust": {"S": "1A2B3C"}, ":status": {"S": "PENDING"}}'

  # Restaurants in Washington, by the beginning of a composite sort key.
  $armature --endpoint $endpoint --output table query --table-name Business --index-name BusinessTypeIndex \\
      --key-condition-expression 'BusinessType = :type AND begins_with(#place, :place)' \\
      --expression-attribute-names '{"#place": "Country:State:City"}' \\
      --expression-attribute-values '{":type": {"S": "Restaurant"}, ":place": {"S": "USA:Washington"}}'

  # Open orders only, from a sparse index.
  $armature --endpoint $endpoint --output table query --table-name CustomerOrders --index-name OpenOrdersIndex \\
      --key-condition-expression 'CustomerId = :c' --expression-attribute-values '{":c": {"S": "C1"}}'

  $armature --endpoint $endpoint --output table index status
  $armature --endpoint $endpoint --output table table describe --table-name orders-table

TRY
