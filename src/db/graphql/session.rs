//! The caller of a request: its token, which is checked once.

use crate::db::graphql::request::Headers;
use crate::db::graphql::schemas::{GraphqlOptions, Loaded};
use hexgraph_base::types::stack;
use hexgraph_graphql::auth::{Audience, Claims, TokenError, bearer};
use hexgraph_graphql::lower::Caller;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The caller of a request: the claims of its token, or why the token is refused.
#[derive(Clone)]
pub(super) struct Session {
    claims: Result<Claims, TokenError>,
}

impl Session {
    /// Takes the token from the header that the schema names.
    ///
    /// # Errors
    ///
    /// When the header can't be understood: the entire request is refused. An invalid token is
    /// reported by [`Session::caller`], since introspection needs none.
    pub(super) fn new(
        loaded: &Loaded,
        headers: &Headers,
        options: &GraphqlOptions,
    ) -> Result<Session, TokenError> {
        let verifier = match &loaded.verifier {
            Ok(Some(verifier)) => verifier,
            Ok(None) => return Ok(Session { claims: Ok(Claims::default()) }),
            Err(why) => return Ok(Session { claims: Err(why.clone().into()) }),
        };
        let settings = loaded.model.authorization.as_ref();
        let value = settings.and_then(|settings| headers.get(&settings.header)).unwrap_or("");
        let token = bearer(value)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let audience =
            if options.audience_optional { Audience::Optional } else { Audience::Needed };
        Ok(Session { claims: stack::with_space(|| verifier.claims(token, now, audience)) })
    }

    /// Returns the value of a claim.
    pub(super) fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.as_ref().ok()?.get(name)
    }

    /// Returns the time when the token expires; `None` if it never does.
    pub(super) fn expires(&self) -> Option<SystemTime> {
        let seconds = self.claims.as_ref().ok()?.expires()?;
        // One beyond the range of the clock never expires.
        UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds.max(0.0)).ok()?)
    }

    /// The caller, as rules see one.
    ///
    /// # Errors
    ///
    /// Why the token does not hold, or that there has to be one.
    pub(super) fn caller<'a>(&'a self, loaded: &'a Loaded) -> Result<Caller<'a>, TokenError> {
        let claims = self.claims.as_ref().map_err(Clone::clone)?;
        let Loaded { model, api, requests, rules, .. } = loaded;
        Ok(Caller { model, api, requests, rules, claims })
    }
}
