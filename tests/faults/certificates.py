"""Certificates made while the tests run: of a test authority, and of none."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Its own certificate is `path`: whoever trusts that file trusts what it signs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        certificate = (
            _draft(self._name, self._name, self._key.public_key(), expired=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.path = folder / "authority.pem"
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, *, host: str = "127.0.0.1", expired: bool = False, self_signed: bool = False) -> ssl.SSLContext:
        """What a server for `host` needs."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file(host=host, expired=expired, self_signed=self_signed))
        return context

    def file(self, *, host: str = "127.0.0.1", expired: bool = False, self_signed: bool = False) -> Path:
        """A key and its certificate."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        subject = x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
        issuer, signer = (name, key) if self_signed else (self._name, self._key)
        certificate = (
            _draft(name, issuer, key.public_key(), expired=expired)
            .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
            .sign(signer, hashes.SHA256())
        )
        path = self._folder / f"{certificate.serial_number}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return path


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, expired: bool
) -> x509.CertificateBuilder:
    end = datetime.now(UTC) + timedelta(days=-1 if expired else 1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - timedelta(days=9))
        .not_valid_after(end)
    )
