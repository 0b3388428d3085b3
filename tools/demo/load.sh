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

  alias arm='$armature --endpoint $endpoint'

  arm describe orders-table
  # Pending orders of one day above an amount, from an index with three sort attributes.
  arm query orders-table/OrdersByStatusDateAmount customer_id=1A2B3C status=PENDING order_date=2025-11-04 'amount>100'
  # The same customer and status, from an index with two partition attributes.
  arm query orders-table/OrdersByOrgAccountStatus customer_id=1A2B3C status=PENDING
  # The best scores of a game, from a global index.
  arm query GameScores/GameTitleIndex 'GameTitle=Meteor Blasters' --reverse -n 3
  # Threads of a forum by their last post, from a local index.
  arm query Thread/LastPostIndex ForumName=EC2 'LastPostDateTime between 2015-08-31T and 2015-11-31T' \\
      --select Subject,LastPostDateTime,Replies
  # Restaurants in Washington, by the beginning of a composite sort key.
  arm query Business/BusinessTypeIndex BusinessType=Restaurant 'Country:State:City^=USA:Washington'
  # Open orders only, from a sparse index.
  arm query CustomerOrders/OpenOrdersIndex CustomerId=C1
  # The shell, with SQL: help, \d, \q
  arm

TRY
