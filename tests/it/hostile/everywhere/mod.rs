//! What attackers try, by every way into a server: each attack of a table goes to each listener, in
//! each version of HTTP that is spoken there. It is refused in words or answered, and the server
//! goes on for others.
//!
//! | | ports | ports with TLS | file |
//! |---|---|---|---|
//! | heads and bodies of HTTP/1.1 (`heads`) | both | both | yes |
//! | texts that ask for too much: `/query`, `/graphql` (`texts`) | HTTP/1.1, HTTP/2 | HTTP/1.1, HTTP/2 | HTTP/1.1, HTTP/2 |
//! | the same in a call | gRPC, gRPC-Web | gRPC, gRPC-Web | gRPC, gRPC-Web |
//! | the same in a subscription | WebSocket | WebSocket | WebSocket |
//! | bodies that unpack to more (`packed`) | HTTP/1.1, HTTP/2, gRPC, gRPC-Web | the same | the same |
//! | clients that stop or drip (`slow`) | HTTP/1.1, HTTP/2, WebSocket | the same | the same |
//! | floods of long questions in subscriptions (`floods`) | WebSocket | WebSocket | WebSocket |
//! | clients that leave before they are answered (`leaving`) | HTTP/1.1, HTTP/2, gRPC, gRPC-Web | the same | the same |
//! | tokens and keys (`secrets`) | HTTP/1.1, HTTP/2, gRPC, gRPC-Web | the same | the same |
//! | names of the server, origins of pages (`secrets`) | HTTP/1.1, HTTP/2, gRPC-Web | the same | the same |

mod door;
mod http2;
mod request;
mod floods;
mod heads;
mod leaving;
mod packed;
mod secrets;
mod slow;
mod texts;
