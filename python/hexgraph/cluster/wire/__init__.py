"""How to connect to a cluster: addresses, calls over gRPC, GraphQL over HTTP and WebSocket."""
