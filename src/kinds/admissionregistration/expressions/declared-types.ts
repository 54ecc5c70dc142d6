/**
 * The types that the expressions of policies and webhooks know by name: what `request` and `namespaceObject` are.
 * Objects themselves (`object`, `oldObject`, `params`) have no type: they are looked at when an expression runs.
 */
import type { CelType, ObjectType, TypeProvider } from '../../../cel/types.js';
import { BOOL, DURATION, DYN, INT, listOf, mapOf, objectType, STRING, TIMESTAMP } from '../../../cel/types.js';
import { CelError } from '../../../cel/values.js';
import { expressionType } from '../../../meta/dialect.js';

type Fields = Readonly<Record<string, CelType>>;

const TYPES = new Map<string, Fields>();

function declare(name: string, fields: Fields): ObjectType {
  const type = objectType(expressionType(name));
  TYPES.set(type.name, fields);
  return type;
}

const TEXTS = listOf(STRING);
const TEXT_MAP = mapOf(STRING, STRING);

const GROUP_VERSION_KIND = declare('GroupVersionKind', { group: STRING, version: STRING, kind: STRING });

const GROUP_VERSION_RESOURCE = declare('GroupVersionResource', { group: STRING, version: STRING, resource: STRING });

const USER_INFO = declare('UserInfo', {
  username: STRING,
  uid: STRING,
  groups: TEXTS,
  extra: mapOf(STRING, TEXTS),
});

/** What is asked for, without the objects: those are variables of their own. */
export const REQUEST_TYPE = declare('AdmissionRequest', {
  kind: GROUP_VERSION_KIND,
  resource: GROUP_VERSION_RESOURCE,
  subResource: STRING,
  requestKind: GROUP_VERSION_KIND,
  requestResource: GROUP_VERSION_RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER_INFO,
  dryRun: BOOL,
  options: DYN,
});

const NAMESPACE_CONDITION = declare('NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

/** `UID` is a slip of the reference server that clients see: nothing stands under that name when it is looked up. */
const NAMESPACE_METADATA = declare('NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: TEXT_MAP,
  annotations: TEXT_MAP,
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: TEXTS,
});

/** The namespace of the object that a request is about. */
export const NAMESPACE_TYPE = declare('Namespace', {
  metadata: NAMESPACE_METADATA,
  spec: declare('NamespaceSpec', { finalizers: TEXTS }),
  status: declare('NamespaceStatus', { conditions: listOf(NAMESPACE_CONDITION), phase: STRING }),
});

/**
 * Types that are no objects and may be written all the same, although nothing stands behind them when an expression
 * runs. Maps are known by the way to them.
 */
const NAMED: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
  [`${NAMESPACE_TYPE.name}.metadata.labels`, TEXT_MAP],
  [`${NAMESPACE_TYPE.name}.metadata.annotations`, TEXT_MAP],
  [`${REQUEST_TYPE.name}.userInfo.extra`, mapOf(STRING, TEXTS)],
]);

/** Knows the fields of the types above. */
export const DECLARED_TYPES: TypeProvider = {
  hasType: (name) => TYPES.has(name),
  fieldType: (typeName, field) => {
    const fields = TYPES.get(typeName);
    return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
  },
  fieldNames: (typeName) => Object.keys(TYPES.get(typeName) ?? {}),
  namedType: (name) => NAMED.get(name),
  construct: unknownType,
};

/** Objects of these types come with a request; an expression cannot make one. */
export function unknownType(typeName: string): never {
  throw new CelError(`unknown type '${typeName}'`);
}
