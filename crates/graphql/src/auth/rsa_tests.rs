//! Tokens that another program has signed with RSA, and what is refused of them.

use super::token::{Audience, Verifier};
use super::{FetchedKeys, KeyError, KeySource, TokenError, TokenFault};
use crate::model::{Algorithm, Authorization, Keys};
use std::sync::Arc;

/// A public key of 2,048 bits, and its modulus as a set of keys has it.
const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
     MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1ib5CFaZnn7RXJ5tOlcy\n\
     9vbRaPIRossuZndNuz+Xd1GS1x9h3mwXzt2b8cWojtCs+mCplt2gX1u1wVYr/aWg\n\
     1ujZbl5yQmxf3k0GEC0hCHxQ5B19YyuUTYCwwoeUAncI++t8XJ7n2D+xyKq3L6QZ\n\
     TQyPPgGNBa2AMGBC1QXv+u2tCjb8kR6OayqBkVhZfHSWq2znFYx4OvTfU9MemRzy\n\
     rbvfoXXGC/ox4XlnuMaM1MWP4iB0YlWZmkxLIzfFMeSgH5ZFfqy3tonGFiVUxKK7\n\
     9CNTjQr0SRehujtwQng8SK/E9l2+lI98fymiPuAAHNQOhASReXJnLn19nT7YmVMQ\n\
     +wIDAQAB\n\
     -----END PUBLIC KEY-----";
const MODULUS: &str = "1ib5CFaZnn7RXJ5tOlcy9vbRaPIRossuZndNuz-Xd1GS1x9h3mwXzt2b8cWojtCs-mCplt2gX1u1wVYr_aWg1ujZbl5yQmxf3k0GEC0hCHxQ5B19YyuUTYCwwoeUAncI--t8XJ7n2D-xyKq3L6QZTQyPPgGNBa2AMGBC1QXv-u2tCjb8kR6OayqBkVhZfHSWq2znFYx4OvTfU9MemRzyrbvfoXXGC_ox4XlnuMaM1MWP4iB0YlWZmkxLIzfFMeSgH5ZFfqy3tonGFiVUxKK79CNTjQr0SRehujtwQng8SK_E9l2-lI98fymiPuAAHNQOhASReXJnLn19nT7YmVMQ-w";
/// Tokens with `{"aud":"a"}` and the `kid` k, signed with its private half.
const TOKENS: [(Algorithm, &str); 3] = [
    (
        Algorithm::Rs256,
        "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.eyJhdWQiOiJhIn0.HtxumyKsiCDtknbXazk2f8yrimRuK3YwwWPv9I2uBprzCIZFKBtDwzSJnXWlHc_iaD4M0Hnkg9WdENnvys7-ZFcWEMeAOyGPs-1s9WtbyLGNHVwo4sJnNaPPtawy0aUbgQ6o875pdXrW2rCCUP3o2yw2rCUiOelGvXupH6mE2Ua45IJZgBr2nQGtiaEgc-R8SK11ivDsAddBDecWILXoBEDmnq3FhfHsPhbwiWIISCUbJygCKXJkqJZtwLhVEyFI2XUM0tzl5wXRkdtgmUv7J0LttjqppNqWPGxXA86Y-5l8S9xCAorGwWq4EGnCGvb8F6SOjx9uLHdXwnDz96zGSw",
    ),
    (
        Algorithm::Rs384,
        "eyJhbGciOiJSUzM4NCIsImtpZCI6ImsifQ.eyJhdWQiOiJhIn0.e5d45MEF0UNTC4Pv_Tdl4IBvYOrwX1rrIuwnntByE9X366p4UdNN_SUgq2wl8FrFetcxoNTcsRh2sqvgg3LwZxX1RMz4LOvItchI9ONdhz0tooUPRxdiPbqDTdAIbhYqc7h1lSns00eTJ_ZtLdWhspYMRgMwp1fvv9RXSqhh9ltaZHAeNdL6byHb_z-fnORGfnzB_TRxSpDRA9Xi_SY82l1Hq5i9bvQsHMozNzyC5JTP568hJQph9sxDFXK-QY9mQbLyJnPSIgQoxQ7OSAvCZv4KWUTsZ8umE7fCFNCpwdjSHz89uRJlel8OadIxshOj87z3SJkD0-q9lrDgy234zw",
    ),
    (
        Algorithm::Rs512,
        "eyJhbGciOiJSUzUxMiIsImtpZCI6ImsifQ.eyJhdWQiOiJhIn0.wAsBbokF5wdgFpYH6LV0evFR8gT9HvKOu_uTYljkJrrc_tOzafBwsNGR3GzGLSAlueAivroTUnamktoj-xc3B6HGesUvuvbKw7z9SUtekvJfd4zhRlwzzy_Xpq_k25zPYDDCbUbwy2wYw6tcNPpFRh8cZpTz1n0sulXUy1R-qxYz62x1zfBleTGr8S719PJc_PqHMrkjnJpPTWFrMXxxUb_YcNCQM3pz1Au02U9g34GXU2xsAFHJoYgCxsM2THD4FQRE_cRLI_-rdwgBwZ2A-oZG2SuW0Vts6Id-X3afNvFZIxLeLVq61UzS16OOfMRl3XWI_qvFNaDc1vi4rYoW9Q",
    ),
];
/// A public key of 1,024 bits, and a token that it signed.
const SHORT: (&str, &str) = (
    "-----BEGIN PUBLIC KEY-----\n\
     MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCwRPmhB03gXH2ai7+xtGuzbx7I\n\
     SAusgg+ydmfRqOB2wDv0WwoAElr3ZPpV34BytuzRba+7Guewv2+e6b6oqROYXEpH\n\
     pVFMe76mY5P95avDqM6fWN7zNP9WAAwsETTObLk/P4k0eUDQ2Rh6o8r8ikPyBB+9\n\
     OgKUrnCmArk77nXb2wIDAQAB\n\
     -----END PUBLIC KEY-----",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.eyJhdWQiOiJhIn0.gCmIu_dv_-q-kqRh3N0KQSw8XS7mv5nUFAkUfryGUXEiR-IcKSG5e-4N_Al15dKVQBXPeAilxEEmaVLEo3wbTLtWHNxF8ksTuMXD09AWZHaRFl-dFE7JgOe0_P9RTm34bS3tjHbE_53vE1r0jKcpSxUQqHQ_zgTWOknryUqofzE",
);

struct Set(String);

impl KeySource for Set {
    fn fetch(&self, _: &str) -> Result<FetchedKeys, KeyError> {
        Ok(FetchedKeys { text: self.0.clone(), lifetime: None })
    }
}

fn verifier(keys: Keys) -> Verifier {
    let settings = Authorization {
        header: "X".to_owned(),
        namespace: "ns".to_owned(),
        keys,
        audience: vec!["a".to_owned()],
        closed_by_default: false,
    };
    let set =
        format!(r#"{{"keys": [{{"kty": "RSA", "kid": "k", "n": "{MODULUS}", "e": "AQAB"}}]}}"#);
    Verifier::new(&settings, Arc::new(Set(set))).expect("keys")
}

fn reported(verifier: &Verifier, token: &str) -> Result<(), TokenError> {
    verifier.claims(Some(token), 1_000, Audience::Needed).map(drop)
}

fn fixed(algorithm: Algorithm, key: &str) -> Verifier {
    verifier(Keys::Fixed { algorithm, key: key.to_owned() })
}

#[test]
fn a_public_key_checks_what_its_private_half_signed() {
    let set = verifier(Keys::Fetched(vec!["here".to_owned()]));
    for (algorithm, token) in TOKENS {
        assert_eq!(reported(&fixed(algorithm, KEY), token), Ok(()), "{algorithm:?}");
        assert_eq!(reported(&set, token), Ok(()), "{algorithm:?}");
        // Another payload, `{"aud":"b"}`; another signature; none.
        let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else {
            panic!("three parts")
        };
        let changed = signature.replacen(&signature[..1], "_", 1);
        for forged in [
            format!("{header}.eyJhdWQiOiJiIn0.{signature}"),
            format!("{header}.{payload}.{changed}"),
            format!("{header}.{payload}."),
        ] {
            let refused = Err(TokenError::Invalid(TokenFault::RsaSignature));
            assert_eq!(reported(&set, &forged), refused, "{forged}");
            assert_eq!(reported(&fixed(algorithm, KEY), &forged), refused, "{forged}");
        }
    }
}

#[test]
fn a_public_key_is_no_secret() {
    // `HS256`, signed with the text of the public key, which everybody may know.
    let token = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ.eyJhdWQiOiJhIn0.2ifC7yH0QqRgnmWMgJEmO2wXdHnNR7FYZ_m6KzOgzi4";
    assert!(reported(&fixed(Algorithm::Rs256, KEY), token).is_err());
    let set = verifier(Keys::Fetched(vec!["here".to_owned()]));
    assert!(reported(&set, token).is_err());
}

#[test]
fn a_short_key_is_none() {
    let (key, token) = SHORT;
    let refused = Err(TokenError::Invalid(TokenFault::RsaSignature));
    assert_eq!(reported(&fixed(Algorithm::Rs256, key), token), refused);
}
