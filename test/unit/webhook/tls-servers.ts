/** HTTPS servers with generated certificates, for tests of outgoing calls. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** A certificate with its key. */
export interface Issued {
  readonly pem: string;
  /** The key in PEM. */
  readonly key: string;
  readonly certificate: x509.X509Certificate;
  readonly keys: CryptoKeyPair;
}

export interface CertificateWish {
  /** Default: `server`. */
  readonly name?: string;
  /** The DNS names and IP addresses; absent: no such extension. */
  readonly hosts?: readonly string[];
  /** The certificate may sign others. */
  readonly ca?: boolean;
  /** Absent: the certificate signs itself. */
  readonly issuer?: Issued;
  /** The certificate is for clients, not for servers. */
  readonly isForClients?: boolean;
  /** The extended key usages; absent: by the other fields. */
  readonly usages?: readonly string[];
  /** The pathLenConstraint of a certificate that may sign others. */
  readonly pathLength?: number;
  /** Default: SHA-256. */
  readonly signatureHash?: string;
  readonly notAfter?: Date;
}

export async function issue({ name = 'server', hosts, ca = false, issuer, ...more }: CertificateWish): Promise<Issued> {
  const keys = (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  const { isForClients = false, notAfter = new Date(Date.now() + DAY_MS) } = more;
  const names = hosts?.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
  const { usages = ca ? [] : [isForClients ? clientAuth : serverAuth], pathLength, signatureHash = 'SHA-256' } = more;
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex')}`,
      subject: `CN=${name}`,
      issuer: issuer?.certificate.subject ?? `CN=${name}`,
      notBefore: new Date(Date.now() - 2 * DAY_MS),
      notAfter,
      publicKey: keys.publicKey,
      signingKey: issuer?.keys.privateKey ?? keys.privateKey,
      signingAlgorithm: { ...ALGORITHM, hash: signatureHash },
      extensions: [
        new x509.BasicConstraintsExtension(ca, pathLength, true),
        ...(usages.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...usages])]),
        ...(names === undefined ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
      ],
    },
    webcrypto as Crypto,
  );
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { pem: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY'), certificate, keys };
}

/** The `caBundle` of these certificates. */
export function bundle(...certificates: readonly Issued[]): string {
  return btoa(certificates.map(({ pem }) => pem).join('\n'));
}

export interface TlsServer extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
}

/** Listens on all addresses of this machine, because endpoints may not be loopback addresses. */
export async function listen({ pem, key }: Issued, listener: RequestListener): Promise<TlsServer> {
  const server = createServer({ cert: pem, key }, listener);
  server.listen(0);
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
