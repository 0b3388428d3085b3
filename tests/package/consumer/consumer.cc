// The smallest program over the installed client: counts the tables of the daemon at argv[1].
#include <cstdio>

#include "armature/client/client.h"
#include "armature/version.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::StatusOr<armature::client::Client> client = armature::client::Connect(argv[1]);
  if (!client.ok()) return 1;
  const auto tables = client->ListTables({});
  if (!tables.ok()) return 1;
  std::printf("armature %s: %d tables\n", armature::kVersion, tables->table_names_size());
}
