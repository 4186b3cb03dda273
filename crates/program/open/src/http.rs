//! HTTP/1.1 with one request per connection.

mod method;
mod request;
mod response;

pub(crate) use method::Method;
pub(crate) use request::{Request, Unread};
pub(crate) use response::{HTML, Response};
