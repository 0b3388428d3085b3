package armature

// Needs protoc 3.21, protoc-gen-go 1.36.8 and protoc-gen-go-grpc 1.5.1 in PATH. The script check fails if the committed
// code is not fresh.
//
//go:generate sh -c "cd ../../proto && protoc -I . --go_out=../client/go --go_opt=module=github.com/armaturedb/armature/client/go --go-grpc_out=../client/go --go-grpc_opt=module=github.com/armaturedb/armature/client/go armature/*/v1/*.proto"
