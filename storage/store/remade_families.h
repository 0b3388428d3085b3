#ifndef ARMATURE_STORAGE_STORE_REMADE_FAMILIES_H_
#define ARMATURE_STORAGE_STORE_REMADE_FAMILIES_H_

// Column families that a database can do without for a moment: they are dropped with their damaged files, and made
// anew. Inside the store only.

#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/table_descriptor.h"

namespace armature::store {

class RocksDb;

// Names the data that is lost with a family that RemakeFamilies makes anew. Empty for other families.
std::string LossWith(std::string_view family);

// Lets the next start build the global index again, from an empty column family. False for an index that is not built,
// because it or its table is created or deleted.
bool BuildIndexAgain(model::TableDescriptor* table, model::IndexDescriptor* index);

// Makes those of `families` anew that LossWith knows. Global indexes that may lack changes of a lost change log are to
// be built again, and so are those whose family is dropped, unless they are being deleted. To be called again with the
// same families after an error. The streams need a new epoch of change sequences, and the expiry no record of its
// progress: both are left to the caller, before the call, because a repeated one may find no damage.
absl::Status RemakeFamilies(RocksDb* rocks, const std::set<std::string>& families);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_REMADE_FAMILIES_H_
