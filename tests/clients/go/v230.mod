module hexgraph.test/flow

go 1.24.0

require (
	github.com/dgraph-io/dgo/v230 v230.0.1
	google.golang.org/grpc v1.75.1
)

require (
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/pkg/errors v0.8.1 // indirect
	golang.org/x/net v0.41.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.org/x/text v0.26.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250707201910-8d1bb00bc6a7 // indirect
	google.golang.org/protobuf v1.36.9 // indirect
)
