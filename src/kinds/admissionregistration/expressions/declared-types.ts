/**
 * The types that the expressions of policies and webhooks know by name: what `request` and `namespaceObject` are.
 * Objects themselves (`object`, `oldObject`, `params`) have no type: they are looked at when an expression runs.
 */
import {
  BOOL,
  CelError,
  type CelType,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  type ObjectType,
  objectType,
  STRING,
  TIMESTAMP,
  type TypeProvider,
} from '../../../cel/index.js';
import { expressionType } from '../../../meta/dialect.js';

type Fields = Readonly<Record<string, CelType>>;

const named = (name: string): ObjectType => objectType(expressionType(name));

/** What is asked for, without the objects: those are variables of their own. */
export const REQUEST_TYPE = named('AdmissionRequest');
/** The namespace of the object that a request is about. */
export const NAMESPACE_TYPE = named('Namespace');

const GROUP_VERSION_KIND = named('GroupVersionKind');
const GROUP_VERSION_RESOURCE = named('GroupVersionResource');
const USER_INFO = named('UserInfo');
const NAMESPACE_METADATA = named('NamespaceMetadata');
const NAMESPACE_SPEC = named('NamespaceSpec');
const NAMESPACE_STATUS = named('NamespaceStatus');
const NAMESPACE_CONDITION = named('NamespaceCondition');

const TEXTS = listOf(STRING);
const TEXT_MAP = mapOf(STRING, STRING);
const EXTRA = mapOf(STRING, TEXTS);

const TYPES: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  [
    REQUEST_TYPE.name,
    {
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
    },
  ],
  [GROUP_VERSION_KIND.name, { group: STRING, version: STRING, kind: STRING }],
  [GROUP_VERSION_RESOURCE.name, { group: STRING, version: STRING, resource: STRING }],
  [USER_INFO.name, { username: STRING, uid: STRING, groups: TEXTS, extra: EXTRA }],
  [NAMESPACE_TYPE.name, { metadata: NAMESPACE_METADATA, spec: NAMESPACE_SPEC, status: NAMESPACE_STATUS }],
  [
    NAMESPACE_METADATA.name,
    {
      name: STRING,
      generateName: STRING,
      namespace: STRING,
      labels: TEXT_MAP,
      annotations: TEXT_MAP,
      // A slip of the reference server that clients see: nothing stands under this name when it is looked up.
      UID: STRING,
      creationTimestamp: TIMESTAMP,
      deletionGracePeriodSeconds: INT,
      deletionTimestamp: TIMESTAMP,
      generation: INT,
      resourceVersion: STRING,
      finalizers: TEXTS,
    },
  ],
  [NAMESPACE_SPEC.name, { finalizers: TEXTS }],
  [NAMESPACE_STATUS.name, { conditions: listOf(NAMESPACE_CONDITION), phase: STRING }],
  [
    NAMESPACE_CONDITION.name,
    { status: STRING, type: STRING, lastTransitionTime: TIMESTAMP, message: STRING, reason: STRING },
  ],
]);

/**
 * Types that are no objects and may be written all the same, although nothing stands behind them when an expression
 * runs. Maps are known by the way to them.
 */
const NAMED: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
  [`${NAMESPACE_TYPE.name}.metadata.labels`, TEXT_MAP],
  [`${NAMESPACE_TYPE.name}.metadata.annotations`, TEXT_MAP],
  [`${REQUEST_TYPE.name}.userInfo.extra`, EXTRA],
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
