/**
 * The types of requests and responses that are not kinds: ListMeta, Status, DeleteOptions, discovery documents. They are
 * defined like the types of kinds and built when a document first needs them.
 */
import {
  always,
  boolean,
  int32,
  int64,
  list,
  optional,
  pointer,
  rawExtension,
  string,
  type Type,
  type,
} from '../../schema/declare.js';
import type { ObjectNode } from '../../schema/schema-node.js';

const text = () => optional(string());
const texts = () => list(string());
const typeMeta = () => ({ kind: text(), apiVersion: text() });

const listMeta = type('ListMeta', () => ({
  selfLink: text(),
  resourceVersion: text(),
  continue: text(),
  remainingItemCount: pointer(int64()),
}));

const statusCause = type('StatusCause', () => ({ reason: text(), message: text(), field: text() }));

const statusDetails = type('StatusDetails', () => ({
  name: text(),
  group: text(),
  kind: text(),
  uid: text(),
  causes: optional(list(statusCause())),
  retryAfterSeconds: optional(int32()),
}));

const preconditions = type('Preconditions', () => ({ uid: pointer(string()), resourceVersion: pointer(string()) }));

const serverAddress = type('ServerAddressByClientCIDR', () => ({ clientCIDR: string(), serverAddress: string() }));

const groupVersion = type('GroupVersionForDiscovery', () => ({ groupVersion: string(), version: string() }));

const apiGroup = type('APIGroup', () => ({
  ...typeMeta(),
  name: string(),
  versions: list(groupVersion()),
  preferredVersion: always(groupVersion()),
  serverAddressByClientCIDRs: optional(list(serverAddress())),
}));

const apiResource = type('APIResource', () => ({
  name: string(),
  singularName: string(),
  namespaced: boolean(),
  group: text(),
  version: text(),
  kind: string(),
  verbs: texts(),
  shortNames: optional(texts()),
  categories: optional(texts()),
  storageVersionHash: text(),
}));

const SCHEMAS = {
  ListMeta: listMeta,
  Status: type('Status', () => ({
    ...typeMeta(),
    metadata: always(listMeta()),
    status: text(),
    message: text(),
    reason: text(),
    details: pointer(statusDetails()),
    code: optional(int32()),
  })),
  DeleteOptions: type('DeleteOptions', () => ({
    ...typeMeta(),
    gracePeriodSeconds: pointer(int64()),
    preconditions: pointer(preconditions()),
    orphanDependents: pointer(boolean()),
    propagationPolicy: pointer(string()),
    dryRun: optional(texts()),
    ignoreStoreReadErrorWithClusterBreakingPotential: pointer(boolean()),
  })),
  Patch: type('Patch', () => ({})),
  WatchEvent: type('WatchEvent', () => ({ type: string(), object: rawExtension() })),
  APIVersions: type('APIVersions', () => ({
    ...typeMeta(),
    versions: list(string()),
    serverAddressByClientCIDRs: list(serverAddress()),
  })),
  APIGroup: apiGroup,
  APIGroupList: type('APIGroupList', () => ({ ...typeMeta(), groups: list(apiGroup()) })),
  APIResourceList: type('APIResourceList', () => ({
    ...typeMeta(),
    groupVersion: string(),
    resources: list(apiResource()),
  })),
  Info: type('Info', () => ({
    major: string(),
    minor: string(),
    emulationMajor: text(),
    emulationMinor: text(),
    minCompatibilityMajor: text(),
    minCompatibilityMinor: text(),
    gitVersion: string(),
    gitCommit: string(),
    gitTreeState: string(),
    buildDate: string(),
    goVersion: string(),
    compiler: string(),
    platform: string(),
  })),
} as const satisfies Readonly<Record<string, Type>>;

export type MetaType = keyof typeof SCHEMAS;

/** The schema node of a meta type. */
export function metaTypeNode(name: MetaType): ObjectNode {
  return SCHEMAS[name]().node as ObjectNode;
}
