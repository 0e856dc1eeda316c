"""A certificate for the local network, signed by nobody but itself. Open this when a browser asks too often."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from darbar_kit.embedded.kept import write_private

# Phones take none that lasts longer.
DAYS = 397
# One that ends sooner is made anew at a start.
DAYS_LEFT_MIN = 7


def certificate_for(address: str, path: Path) -> tuple[ssl.SSLContext, str]:
    """How to speak TLS as this address, and the certificate's SHA-256 as browsers write it. Kept at `path` with its
    key, so that a browser asks once; made anew for another address."""
    kept = _kept(path, address)
    if kept is None:
        kept = _made(path, address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(path)
    return context, ":".join(f"{byte:02X}" for byte in kept.fingerprint(SHA256()))


def _kept(path: Path, address: str) -> x509.Certificate | None:
    if not path.is_file():
        return None
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return None  # Half written, or not ours: another one takes its place.
    fits = IPv4Address(address) in names.get_values_for_type(x509.IPAddress)
    lasts = certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(days=DAYS_LEFT_MIN)
    return certificate if fits and lasts else None


def _made(path: Path, address: str) -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Darbar in this network")])
    names = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(address)), x509.DNSName("localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # A phone's clock may be slow.
        .not_valid_after(now + timedelta(days=DAYS - 1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_private(path, (secret + certificate.public_bytes(Encoding.PEM)).decode())
    return certificate
