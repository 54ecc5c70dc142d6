/**
 * Parses a PKCS#10 certificate request (subject, names, public key), verifies its signature, and checks it for the built-in
 * signers.
 */

import type { Dialect } from '../../meta/dialect.js';
import { readCertificateRequest } from '../../text/x509/certificate.js';
import { DerError, DerReader, TAG } from '../../text/x509/der.js';
import { firstPemBlockIn } from '../../text/x509/pem.js';
import { concatBytes, toHex } from '../../util/bytes.js';
import { byKey } from '../../util/order.js';
import { type Bytes, element, oid, sequence, text } from './write-der.js';

interface SubjectAttribute {
  readonly type: string;
  readonly value: string;
}

export interface SigningRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** 4 or 16 bytes each. */
  readonly ipAddresses: readonly Uint8Array[];
  /** The attributes of the subject that are strings, in order. */
  readonly attributes: readonly SubjectAttribute[];
  /** A complete DER element as received. */
  readonly publicKey: Uint8Array;
  /** The signed bytes, the algorithm's OID and the signature. */
  readonly signed: { readonly body: Uint8Array; readonly algorithm: string; readonly signature: Uint8Array };
}

const OID = {
  rsa: '2a864886f70d010101',
  ed25519: '2b6570',
  extensionRequest: '2a864886f70d01090e',
  subjectAltName: '551d11',
} as const;

/** GeneralName tags. */
const EMAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;
const IP = 0x87;

/** Parses `spec.request`. Throws an Error if it is not a certificate request. */
export function readSigningRequest(base64: string): SigningRequest {
  const block = firstPemBlockIn(base64);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const facts = readCertificateRequest(block.bytes);
  if (facts === undefined) throw new Error('the request is malformed');
  const outer = new DerReader(block.bytes).only(TAG.sequence);
  const body = whole(outer);
  const inner = new DerReader(body).sequence();
  inner.integer();
  inner.any();
  const publicKey = whole(inner);
  const names = namesIn(inner.element(TAG.context0));
  const algorithm = outer.sequence().oid();
  const of = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => content.bytes);
  const texts = (tag: number) => of(tag).map((bytes) => new TextDecoder().decode(bytes));
  return {
    ...facts,
    dnsNames: texts(DNS),
    emailAddresses: texts(EMAIL),
    uris: texts(URI),
    ipAddresses: of(IP),
    publicKey,
    signed: { body, algorithm, signature: outer.bitString() },
  };
}

/** The attributes of a subject, as lists: country, O, OU, locality, province, street, postal code. */
const LISTED = ['550406', '55040a', '55040b', '550407', '550408', '550409', '550411'];
/** The last one counts: CN, serial number. */
const SINGLE = ['550403', '550405'];

/**
 * The subject for a certificate, a complete DER element: the known attributes of the request in a fixed order. Others are
 * dropped, above all a UID, which no signer checks.
 * upstream: crypto/x509/pkix Name.ToRDNSequence
 */
export function subjectOf({ attributes }: SigningRequest): Uint8Array {
  const valuesOf = (type: string) => attributes.flatMap((one) => (one.type === type ? [one.value] : []));
  const lists = [
    ...LISTED.map((type) => ({ type, values: valuesOf(type) })),
    ...SINGLE.map((type) => ({ type, values: valuesOf(type).slice(-1).filter(Boolean) })),
  ];
  return sequence(
    ...lists.flatMap(({ type, values }) => {
      if (values.length === 0) return [];
      const tagOf = (value: string) => (/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? TAG.printable : TAG.utf8);
      const entries = values.map((value): [string, Bytes] => {
        const entry = sequence(oid(type), text(tagOf(value), value));
        return [toHex(entry), entry];
      });
      // The elements of a set are sorted by their bytes.
      return [element(TAG.set, ...entries.sort(byKey).map(([, entry]) => entry))];
    }),
  );
}

/** The next element including its tag and length. */
function whole(reader: DerReader): Uint8Array {
  const { rest } = reader;
  reader.any();
  return rest.subarray(0, rest.length - reader.rest.length);
}

function namesIn(attributes: DerReader): { readonly tag: number; readonly content: DerReader }[] {
  const names: { tag: number; content: DerReader }[] = [];
  attributes.each(() => {
    const attribute = attributes.sequence();
    if (attribute.oid() !== OID.extensionRequest) return;
    const extensions = attribute.element(TAG.set).sequence();
    extensions.each(() => {
      const extension = extensions.sequence();
      const type = extension.oid();
      if (extension.has(TAG.boolean)) extension.boolean();
      const value = extension.element(TAG.octetString);
      if (type !== OID.subjectAltName) return;
      const list = value.sequence();
      list.each(() => void names.push(list.any()));
    });
  });
  return names;
}

/** The hash by OID of the signature algorithm. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['2a864886f70d01010b', 'SHA-256'],
  ['2a864886f70d01010c', 'SHA-384'],
  ['2a864886f70d01010d', 'SHA-512'],
  ['2a8648ce3d040302', 'SHA-256'],
  ['2a8648ce3d040303', 'SHA-384'],
  ['2a8648ce3d040304', 'SHA-512'],
]);

const CURVES: ReadonlyMap<string, { readonly name: string; readonly size: number }> = new Map([
  ['2a8648ce3d030107', { name: 'P-256', size: 32 }],
  ['2b81040022', { name: 'P-384', size: 48 }],
  ['2b81040023', { name: 'P-521', size: 66 }],
]);

/** Verifies that the requester has the private key. Throws for algorithms that Web Crypto does not support. */
export async function isSignedByOwnKey({ publicKey, signed }: SigningRequest, subtle: SubtleCrypto): Promise<boolean> {
  const { body, algorithm, signature } = signed;
  const description = new DerReader(publicKey).sequence().sequence();
  const type = description.oid();
  const key = (parameters: RsaHashedImportParams | EcKeyImportParams | Algorithm) =>
    subtle.importKey('spki', copy(publicKey), parameters, false, ['verify']);
  if (type === OID.ed25519) {
    return subtle.verify({ name: 'Ed25519' }, await key({ name: 'Ed25519' }), copy(signature), copy(body));
  }
  const hash = HASHES.get(algorithm);
  if (hash === undefined) throw new Error(`the signature's algorithm ${algorithm} is not known`);
  if (type === OID.rsa) {
    const parameters = { name: 'RSASSA-PKCS1-v1_5', hash };
    return subtle.verify(parameters, await key(parameters), copy(signature), copy(body));
  }
  const curve = CURVES.get(description.oid());
  if (curve === undefined) throw new Error('the curve of the key is not known');
  const raw = rawSignature(signature, curve.size);
  if (raw === undefined) return false;
  return subtle.verify({ name: 'ECDSA', hash }, await key({ name: 'ECDSA', namedCurve: curve.name }), raw, copy(body));
}

/** Converts a DER signature to Web Crypto's form: two fixed-length integers concatenated. */
function rawSignature(signature: Uint8Array, size: number): Bytes | undefined {
  try {
    const numbers = new DerReader(signature).only(TAG.sequence);
    const parts = [numbers.integer(), numbers.integer()].map((number) => {
      const digits = toHex(number).replace(/^(00)+/, '');
      if (digits.length > 2 * size) throw new DerError();
      return Uint8Array.from({ length: size }, (_, index) =>
        Number.parseInt(digits.padStart(2 * size, '0').slice(2 * index, 2 * index + 2), 16),
      );
    });
    return concatBytes(parts);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

function copy(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Returns why a request cannot be signed; undefined if it can. */
type Check = (request: SigningRequest, usages: readonly string[]) => string | undefined;

/** The checks by signer name. Requests to other signers are ignored. */
export function signers({ key }: Dialect): ReadonlyMap<string, Check> {
  return new Map<string, Check>([
    [key('kube-apiserver-client'), clientProblem],
    [key('kube-apiserver-client-kubelet'), kubeletClientProblem],
    [key('kubelet-serving'), kubeletServingProblem],
    [key('legacy-unknown'), () => undefined],
  ]);
}

const NODES = 'system:nodes';

const NODE_PREFIX = 'system:node:';

/** Sorted, as in messages. `key encipherment` is optional, because not all keys can encipher. */
const CLIENT_USAGES = ['client auth', 'digital signature', 'key encipherment'];

const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];

const OPTIONAL_USAGE = 'key encipherment';

function clientProblem(_request: SigningRequest, usages: readonly string[]): string | undefined {
  const invalid = usages.find((usage) => !CLIENT_USAGES.includes(usage));
  if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

export function kubeletClientProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return nameProblem(request) ?? usageProblem(usages, CLIENT_USAGES);
}

function kubeletServingProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usageProblem(usages, SERVING_USAGES) ?? nameProblem(request);
}

function isForNodes({ organizations }: SigningRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODES;
}

function nameProblem({ commonName }: SigningRequest): string | undefined {
  return commonName.startsWith(NODE_PREFIX) ? undefined : 'subject common name does not begin with system:node:';
}

function usageProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = new Set(usages);
  const isEnough = wanted.every((usage) => given.has(usage) || usage === OPTIONAL_USAGE);
  const isMore = [...given].some((usage) => !wanted.includes(usage));
  return isEnough && !isMore ? undefined : `usages did not match [${wanted.join(' ')}]`;
}
