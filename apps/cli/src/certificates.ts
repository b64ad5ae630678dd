import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** Certificates are as long valid as an installation is expected to be: nobody changes them unasked. */
const VALID_YEARS = 10;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const SERIAL_BYTES = 16;
/** Clocks may differ. */
const BEFORE_NOW_MS = 24 * 60 * 60_000;

/** A server's certificate and its private key, in PEM. */
export type ServerCertificate = { certificate: string; key: string };

/**
 * Certificates for servers with these names, of a new authority. The authority's private key is kept nowhere: no further
 * certificate can be made that its clients trust.
 * @returns the authority's certificate in PEM, and one for each name
 */
export async function newCertificates<N extends string>(
  names: readonly N[],
  now: Date,
): Promise<{ authority: string; servers: Map<N, ServerCertificate> }> {
  const validity = {
    notBefore: new Date(now.getTime() - BEFORE_NOW_MS),
    notAfter: new Date(Date.UTC(now.getUTCFullYear() + VALID_YEARS, now.getUTCMonth(), now.getUTCDate())),
  };
  const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const issuer = await newKeys();
  const { KeyUsageFlags } = x509;
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serial(),
    name: 'CN=Quittance engines',
    signingAlgorithm: ALGORITHM,
    keys: issuer,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  const servers = new Map<N, ServerCertificate>();
  for (const name of names) {
    const own = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity,
      serialNumber: serial(),
      subject: `CN=${name}`,
      issuer: authority.subject,
      signingAlgorithm: ALGORITHM,
      publicKey: own.publicKey,
      signingKey: issuer.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ],
    });
    const key = x509.PemConverter.encode(
      await crypto.subtle.exportKey('pkcs8', own.privateKey),
      'PRIVATE KEY',
    );
    servers.set(name, { certificate: `${certificate.toString('pem')}\n`, key: `${key}\n` });
  }
  return { authority: `${authority.toString('pem')}\n`, servers };
}

/** Positive, as the standard demands: its first bit is 0. */
function serial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('hex');
}
