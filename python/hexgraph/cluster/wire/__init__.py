"""How a cluster is reached: addresses, calls over gRPC, GraphQL over HTTP and WebSocket."""
