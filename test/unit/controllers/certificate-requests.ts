/** Creates certificate signing requests with a third-party library, independent of the code under test. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export type Keys = 'P-256' | 'P-384' | 'RSA' | 'Ed25519';

export interface RequestParts {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly uris?: readonly string[];
  /** Attributes of the subject after the common name, by their OID. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly keys?: Keys;
  /** Signs the request with a different key. */
  readonly isForged?: boolean;
}

const ALGORITHMS = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  RSA: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: Uint8Array.of(1, 0, 1), modulusLength: 2048 },
  Ed25519: { name: 'Ed25519' },
} as const;

/** Keys in PEM or DER. */
interface MadeRequest {
  readonly pem: string;
  readonly publicKey: ArrayBuffer;
  readonly privateKey: string;
}

export async function requestFor(parts: RequestParts): Promise<MadeRequest> {
  const { commonName, organizations = [], keys = 'P-256', isForged = false } = parts;
  const algorithm = ALGORITHMS[keys];
  const make = async () => (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair;
  const pair = await make();
  const names = [
    ...(parts.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(parts.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
    ...(parts.emailAddresses ?? []).map((value) => ({ type: 'email' as const, value })),
    ...(parts.uris ?? []).map((value) => ({ type: 'url' as const, value })),
  ];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [
      ...organizations.map((value) => ({ O: [value] })),
      { CN: [commonName] },
      ...Object.entries(parts.attributes ?? {}).map(([type, value]) => ({ [type]: [value] })),
    ],
    keys: isForged ? { publicKey: pair.publicKey, privateKey: (await make()).privateKey } : pair,
    signingAlgorithm: algorithm,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
  });
  return {
    pem: `${request.toString('pem')}\n`,
    publicKey: await crypto.subtle.exportKey('spki', pair.publicKey),
    privateKey: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', pair.privateKey), 'PRIVATE KEY'),
  };
}
