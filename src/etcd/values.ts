/**
 * The values that kube-apiserver stores in etcd. Built-in kinds are protobuf messages in the envelope of HTTP bodies,
 * except CRDs and APIServices, which are JSON like custom resources. A value contains everything that a client gets,
 * except the resourceVersion (the revision of the key) and the self link.
 */
import { cbor } from '../codec/cbor/index.js';
import { jsonBody } from '../codec/json.js';
import { encodeJson } from '../codec/json-encoder.js';
import { protobuf, protobufBody, typesIn } from '../codec/protobuf/protobuf.js';
import { CustomResourceDefinition } from '../crd/index.js';
import { inWireOrder } from '../crd/value/wire-order.js';
import type { HookContext } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { EXTENSION_GROUPS } from '../kinds/shared/storage-conflict.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { RequestBody } from '../protocol/body.js';
import { decode } from '../schema/decode.js';
import { addGivenZeros } from '../schema/given-fields.js';
import { asDraft } from '../server/decode-body.js';
import { inStoredOrder } from '../server/load.js';
import { seal } from '../server/steps/seal.js';
import { toServed, toStored } from '../server/versions.js';
import { decodeUtf8 } from '../util/bytes.js';
import { isRecord, type MutableRecord } from '../util/json.js';
import { builtInKindsIn } from './built-in-kinds.js';
import { fromV1beta1Spec, toV1beta1Spec } from './crd-v1beta1.js';

/** A value that cannot be decoded. */
export class StoredValueError extends Error {
  override readonly name = 'StoredValueError';
}

/** A value that the server encrypted before it stored it. */
export class EncryptedValueError extends StoredValueError {
  constructor(provider: string) {
    super(`the value is encrypted at rest (${provider}), and only its server has the key`);
  }
}

/**
 * Kinds that the reference server stores in an older version than this library, by canonical group and resource: servers
 * of the previous release must be able to read them.
 * upstream: pkg/kubeapiserver/default_storage_factory_builder.go NewStorageFactoryConfigEffectiveVersion
 */
const OLDER_STORAGE_VERSIONS: ReadonlyMap<string, string> = new Map([
  [`ipaddresses.${serviceGroup('networking')}`, 'v1beta1'],
  [`servicecidrs.${serviceGroup('networking')}`, 'v1beta1'],
  [`deviceclasses.${serviceGroup('resource')}`, 'v1beta1'],
  [`resourceclaims.${serviceGroup('resource')}`, 'v1beta1'],
  [`resourceclaimtemplates.${serviceGroup('resource')}`, 'v1beta1'],
  [`resourceslices.${serviceGroup('resource')}`, 'v1beta1'],
]);

/** Encodes an object as the reference server stores it. `served` is the kind in whose version this library stores it. */
export function encodeStored(object: ApiObject, served: ServedKind): Uint8Array {
  const { kind, dialect } = served;
  if (kind === CustomResourceDefinition) return encodeJsonValue(toV1beta1(object, dialect));
  if (kind.representation !== 'struct') return encodeCustomValue(object);
  const version = storedVersion(served);
  const document = withoutVersion(version === served ? object : toServed(version, object));
  const isMessage = typesIn(dialect).ofKind(version.apiVersion, kind.kind) !== undefined;
  if (!isMessage || EXTENSION_GROUPS.has(kind.group)) return encodeJsonValue(document);
  return protobuf.encode(document, { dialect, pretty: false }) as Uint8Array;
}

/** Encodes a custom resource. */
export function encodeCustomValue(object: ApiObject): Uint8Array {
  return encodeJsonValue(inWireOrder(withoutVersion(object)));
}

/** The version in which the reference server stores a kind. */
function storedVersion(served: ServedKind): ServedKind {
  const { kind, dialect, gvk } = served;
  const version = OLDER_STORAGE_VERSIONS.get(`${kind.names.plural}.${kind.group}`);
  if (version === undefined) return served;
  return builtInKindsIn(dialect).version(apiVersionOf({ group: gvk.group, version }), kind.kind) ?? served;
}

function encodeJsonValue(document: object): Uint8Array {
  return new TextEncoder().encode(`${encodeJson(document)}\n`);
}

function withoutVersion(object: ApiObject): ApiObject {
  const {
    resourceVersion: _version,
    selfLink: _link,
    ...metadata
  } = object.metadata as ApiObject['metadata'] & {
    readonly selfLink?: string;
  };
  return { ...object, metadata: metadata as ApiObject['metadata'] };
}

function toV1beta1(crd: ApiObject, dialect: Dialect): ApiObject {
  const { spec } = crd as ApiObject & { readonly spec: Readonly<Record<string, unknown>> };
  return { ...withoutVersion(crd), apiVersion: v1beta1Of(dialect), spec: toV1beta1Spec(spec) } as ApiObject;
}

function v1beta1Of(dialect: Dialect): string {
  return apiVersionOf({ group: dialect.group(serviceGroup('apiextensions')), version: 'v1beta1' });
}

/** How a value is to be decoded. */
export interface StoredTarget {
  /** The kind in whose version this library stores the object. */
  readonly served: ServedKind;
  /** The revision of the key, which is the resourceVersion of the object. */
  readonly revision: number;
  /** The context of the hooks that set defaults. */
  readonly context: HookContext;
}

/**
 * Decodes a value to an object as this library stores it, deeply frozen. Defaults are applied to built-in kinds; custom
 * resources get theirs when they are read. Throws {@link StoredValueError}, or the error of the decoder.
 */
export function decodeStored(value: Uint8Array, { served, revision, context }: StoredTarget): ApiObject {
  const { dialect, kind } = served;
  const body = bodyOf(value, dialect);
  const document = body.read().value;
  const resourceVersion = String(revision);
  if (kind.representation !== 'struct') return inStoredOrder(served, withVersion(document, resourceVersion));
  const given = documentIn(document, dialect);
  const version = versionOf(given, served);
  if (body.omitsZeroValues?.() === true) addGivenZeros(version.schema, given);
  const draft = asDraft(decode(version.schema, { value: given }).value, given, version);
  version.kind.strategy.decode.defaults?.(draft, context);
  const object = seal(version.schema, draft, resourceVersion);
  return version === served ? object : toStored(version, object);
}

/** Decodes the value of a custom resource whose CRD is not known yet. */
export function decodeCustomValue(value: Uint8Array, revision: number, dialect: Dialect): ApiObject {
  return withVersion(bodyOf(value, dialect).read().value, String(revision));
}

const ENCRYPTED = 'k8s:enc:';
const CBOR_TAG = [0xd9, 0xd9, 0xf7];

function bodyOf(value: Uint8Array, dialect: Dialect): RequestBody {
  const start = decodeUtf8(value.subarray(0, ENCRYPTED.length));
  if (start === ENCRYPTED) {
    const provider = decodeUtf8(value.subarray(0, 80)).split(':').slice(2, 4).join(' ');
    throw new EncryptedValueError(provider);
  }
  if (start.startsWith('{')) return jsonBody(decodeUtf8(value));
  if (CBOR_TAG.every((byte, index) => byte === value[index])) return cbor.body(value, dialect);
  return protobufBody(value, dialect);
}

function withVersion(document: unknown, resourceVersion: string): ApiObject {
  if (!isRecord(document) || !isRecord(document['metadata'])) throw new StoredValueError('the value is not an object');
  return { ...document, metadata: { ...document['metadata'], resourceVersion } } as unknown as DraftObject & ApiObject;
}

/** The document, in version v1 if it is a CRD. */
function documentIn(document: unknown, dialect: Dialect): MutableRecord {
  if (!isRecord(document)) throw new StoredValueError('the value is not an object');
  if (document['apiVersion'] !== v1beta1Of(dialect) || !isRecord(document['spec'])) return document;
  const apiVersion = apiVersionOf({ group: dialect.group(serviceGroup('apiextensions')), version: 'v1' });
  return { ...document, apiVersion, spec: fromV1beta1Spec(document['spec']) };
}

/** The version in which an object was stored: that of the server that wrote it last. */
function versionOf({ apiVersion, kind }: MutableRecord, served: ServedKind): ServedKind {
  if (apiVersion === served.apiVersion && kind === served.gvk.kind) return served;
  const version = builtInKindsIn(served.dialect).version(String(apiVersion), String(kind));
  if (version?.storageKey === served.storageKey) return version;
  throw new StoredValueError(`${kind} in ${apiVersion} is no version of ${served.gvk.kind} in ${served.apiVersion}`);
}
