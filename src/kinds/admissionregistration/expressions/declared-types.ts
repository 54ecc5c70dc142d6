/**
 * The declared CEL types of policies and webhooks: `request` and `namespaceObject`. `object`, `oldObject` and `params`
 * are dynamic.
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

/** The type of `request`, without the objects, which are separate variables. */
export const REQUEST_TYPE = named('AdmissionRequest');
/** The type of `namespaceObject`. */
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
      // As in the reference server: the declared name differs from the data's name, so the field is always absent.
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
 * Types that are not objects and can be named in an expression, although they do not exist when an expression
 * runs. Maps are known by the way to them.
 */
const NAMED: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
  [`${NAMESPACE_TYPE.name}.metadata.labels`, TEXT_MAP],
  [`${NAMESPACE_TYPE.name}.metadata.annotations`, TEXT_MAP],
  [`${REQUEST_TYPE.name}.userInfo.extra`, EXTRA],
]);

/** Provides the fields of the declared types. */
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

/** Expressions cannot construct objects of the declared types. */
export function unknownType(typeName: string): never {
  throw new CelError(`unknown type '${typeName}'`);
}
