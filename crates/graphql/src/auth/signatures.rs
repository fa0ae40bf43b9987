//! What signs and checks tokens: ring, by which the ports encrypt as well. jsonwebtoken leaves the
//! arithmetic to whoever uses it, and has one provider of it for a process.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use ring::{error, hmac};

/// Makes ring the provider of this process, unless the program has named another one. To be called
/// before the first token is signed or checked; it costs one look later on.
pub fn provide_signatures() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |algorithm, key| Ok(Box::new(Hmac::signing(*algorithm, key)?)),
        verifier_factory: verifier,
        // Only thumbprints and keys that are made from private ones need these.
        key_utils: KeyUtils::new_unimplemented(),
    };
    // That there is one already is no fault: it is ours, or the program's own.
    let _ = PROVIDER.install_default();
}

/// What checks signatures of an algorithm with a key.
///
/// # Errors
///
/// When the key is of another family, or the algorithm is none of HMAC and RSA with PKCS #1.
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    match rsa(*algorithm) {
        Some(parameters) => {
            Ok(Box::new(Rsa { algorithm: *algorithm, parameters, key: key.kind().clone() }))
        }
        None => Ok(Box::new(Hmac::of(*algorithm, key.try_get_as_bytes()?)?)),
    }
}

/// Keys shorter than 2,048 bits are no keys (RFC 7518, section 3.3).
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&RSA_PKCS1_2048_8192_SHA512),
        _ => None,
    }
}

/// A secret that signs and checks.
struct Hmac {
    algorithm: Algorithm,
    key: hmac::Key,
}

impl Hmac {
    fn of(algorithm: Algorithm, secret: &[u8]) -> Result<Hmac, Error> {
        let hash = match algorithm {
            Algorithm::HS256 => hmac::HMAC_SHA256,
            Algorithm::HS384 => hmac::HMAC_SHA384,
            Algorithm::HS512 => hmac::HMAC_SHA512,
            _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
        };
        Ok(Hmac { algorithm, key: hmac::Key::new(hash, secret) })
    }

    fn signing(algorithm: Algorithm, key: &EncodingKey) -> Result<Hmac, Error> {
        if key.family() != algorithm.family() {
            return Err(ErrorKind::InvalidKeyFormat.into());
        }
        Hmac::of(algorithm, key.as_bytes())
    }
}

impl Signer<Vec<u8>> for Hmac {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(hmac::sign(&self.key, message).as_ref().to_vec())
    }
}

impl JwtSigner for Hmac {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Hmac {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        reported(hmac::verify(&self.key, message, signature))
    }
}

impl JwtVerifier for Hmac {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// A public key that checks.
struct Rsa {
    algorithm: Algorithm,
    parameters: &'static RsaParameters,
    key: DecodingKeyKind,
}

impl Verifier<Vec<u8>> for Rsa {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        reported(match &self.key {
            DecodingKeyKind::SecretOrDer(der) => {
                UnparsedPublicKey::new(self.parameters, der).verify(message, signature)
            }
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(self.parameters, message, signature)
            }
        })
    }
}

impl JwtVerifier for Rsa {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// The one error of signatures: the reason is never reported.
fn reported(checked: Result<(), error::Unspecified>) -> Result<(), signature::Error> {
    checked.map_err(|_| signature::Error::new())
}
