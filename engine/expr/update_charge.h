#ifndef ARMATURE_ENGINE_EXPR_UPDATE_CHARGE_H_
#define ARMATURE_ENGINE_EXPR_UPDATE_CHARGE_H_

// The size of an UpdateExpression as the API charges it against the maximal size of an item.

#include <cstddef>

#include "engine/expr/ast.h"

namespace armature::expr {

// The charge for a bound update. It depends on the request alone: values that paths read, and the results of functions
// and sums, are free.
//
//   update            3 + every action
//   SET target = x    19 + target + x        ADD target :v      19 + target + size of :v
//   REMOVE target     1 + target             DELETE target :v   1 + target
//   target            first element, plus 4 + element for each further one
//   path              1, plus 14 + element for each element
//   element           bytes of the name, or digits of the list index
//   :v                API size of the value, wherever it is used
//   a + b             34 + a + b             a - b              37 + a + b
//   list_append(a, b) 37 + a + b             if_not_exists(p, x) 39 + path p + x
//
// AttributeUpdates are free. Source: the API as captured in October 2026.
size_t ChargeOf(const Update& update);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_UPDATE_CHARGE_H_
