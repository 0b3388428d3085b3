// Package armature is the client of the Armature database daemon.
//
//	client, err := armature.Open("localhost:7700")
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	type User struct {
//		ID     string `armature:"id"`
//		Name   string `armature:"name"`
//		Visits int    `armature:"visits"`
//	}
//	users := armature.TableOf[User](client, "users")
//	_, err = users.Put(ctx, User{ID: "ann", Name: "Ann"})
//	ann, err := users.Get(ctx, armature.Key{"id": "ann"})
//	for user, err := range users.Query(ctx, armature.Expr("id = $id", armature.Params{"id": "ann"})) {
//		...
//	}
//
// Two layers can be mixed:
//
//   - [Table] works with Go values: structs with tags, or [Item] for items without a schema. Conditions, updates and
//     projections are texts with $parameters ([Expr]) or are built ([Attr], [Set]).
//   - [Client.Items], [Client.Tables] and the other services are the generated clients of the protocol. They have every
//     operation, and the same retries, sessions and errors as the first layer.
//
// A context without a deadline gets the timeout of the client ([WithTimeout], 10 seconds). It covers a call with all its
// attempts.
//
// All types are safe for concurrent use, unless their documentation says otherwise.
package armature
