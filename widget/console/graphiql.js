// GraphiQL, as it is, asking the server that it came from. What is typed into its headers is kept in memory only.

import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/graphiql.css";
import "./graphiql.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const url = new URL("graphql", location.href);
const subscriptions = new URL(url);
subscriptions.protocol = url.protocol.replace("http", "ws");

const fetcher = createGraphiQLFetcher({ url: url.href, subscriptionUrl: subscriptions.href });

const introduction = `# GraphQL: Ctrl-Enter runs the query, Ctrl-Space completes names.
# Keys and tokens go into Headers below, such as {"X-Auth-Token": "…"}; they are not stored.
`;

createRoot(document.getElementById("graphiql")).render(
  createElement(GraphiQL, { fetcher, defaultQuery: introduction, shouldPersistHeaders: false }),
);
