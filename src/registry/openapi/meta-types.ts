/**
 * The types of requests and responses that are not kinds: ListMeta, Status, DeleteOptions, discovery documents. They are
 * defined like the types of kinds and built when a document first needs them.
 */
import * as z from 'zod';
import { objectFromZod } from '../../schema/from-zod.js';
import { always, int32, int64, optional, pointer, rawExtension, struct } from '../../schema/hints.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { once } from '../../schema/type.js';

const text = () => optional(z.string());
const texts = () => z.array(z.string());
const typeMeta = () => ({ kind: text(), apiVersion: text() });

const listMeta = once(() =>
  struct('ListMeta', {
    selfLink: text(),
    resourceVersion: text(),
    continue: text(),
    remainingItemCount: pointer(int64()),
  }),
);

const statusCause = once(() => struct('StatusCause', { reason: text(), message: text(), field: text() }));

const statusDetails = once(() =>
  struct('StatusDetails', {
    name: text(),
    group: text(),
    kind: text(),
    uid: text(),
    causes: optional(z.array(statusCause())),
    retryAfterSeconds: optional(int32()),
  }),
);

const preconditions = once(() =>
  struct('Preconditions', { uid: pointer(z.string()), resourceVersion: pointer(z.string()) }),
);

const serverAddress = once(() =>
  struct('ServerAddressByClientCIDR', { clientCIDR: z.string(), serverAddress: z.string() }),
);

const groupVersion = once(() => struct('GroupVersionForDiscovery', { groupVersion: z.string(), version: z.string() }));

const apiGroup = once(() =>
  struct('APIGroup', {
    ...typeMeta(),
    name: z.string(),
    versions: z.array(groupVersion()),
    preferredVersion: always(groupVersion()),
    serverAddressByClientCIDRs: optional(z.array(serverAddress())),
  }),
);

const apiResource = once(() =>
  struct('APIResource', {
    name: z.string(),
    singularName: z.string(),
    namespaced: z.boolean(),
    group: text(),
    version: text(),
    kind: z.string(),
    verbs: texts(),
    shortNames: optional(texts()),
    categories: optional(texts()),
    storageVersionHash: text(),
  }),
);

const SCHEMAS = {
  ListMeta: listMeta,
  Status: () =>
    struct('Status', {
      ...typeMeta(),
      metadata: always(listMeta()),
      status: text(),
      message: text(),
      reason: text(),
      details: pointer(statusDetails()),
      code: optional(int32()),
    }),
  DeleteOptions: () =>
    struct('DeleteOptions', {
      ...typeMeta(),
      gracePeriodSeconds: pointer(int64()),
      preconditions: pointer(preconditions()),
      orphanDependents: pointer(z.boolean()),
      propagationPolicy: pointer(z.string()),
      dryRun: optional(texts()),
      ignoreStoreReadErrorWithClusterBreakingPotential: pointer(z.boolean()),
    }),
  Patch: () => struct('Patch', {}),
  WatchEvent: () => struct('WatchEvent', { type: z.string(), object: rawExtension() }),
  APIVersions: () =>
    struct('APIVersions', {
      ...typeMeta(),
      versions: z.array(z.string()),
      serverAddressByClientCIDRs: z.array(serverAddress()),
    }),
  APIGroup: apiGroup,
  APIGroupList: () => struct('APIGroupList', { ...typeMeta(), groups: z.array(apiGroup()) }),
  APIResourceList: () =>
    struct('APIResourceList', { ...typeMeta(), groupVersion: z.string(), resources: z.array(apiResource()) }),
  Info: () =>
    struct('Info', {
      major: z.string(),
      minor: z.string(),
      emulationMajor: text(),
      emulationMinor: text(),
      minCompatibilityMajor: text(),
      minCompatibilityMinor: text(),
      gitVersion: z.string(),
      gitCommit: z.string(),
      gitTreeState: z.string(),
      buildDate: z.string(),
      goVersion: z.string(),
      compiler: z.string(),
      platform: z.string(),
    }),
} as const satisfies Readonly<Record<string, () => z.ZodType>>;

export type MetaType = keyof typeof SCHEMAS;

const nodes = new Map<MetaType, ObjectNode>();

/** The structural schema of a meta type, built once. */
export function metaTypeNode(name: MetaType): ObjectNode {
  let node = nodes.get(name);
  if (node === undefined) {
    node = objectFromZod(SCHEMAS[name](), name);
    nodes.set(name, node);
  }
  return node;
}
