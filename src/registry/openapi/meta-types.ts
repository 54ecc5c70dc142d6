/**
 * The types of requests and responses that are not kinds: ListMeta, Status, DeleteOptions, discovery documents. They are
 * built when a document first needs them.
 */
import {
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  deleteOptions,
  listMeta,
  status,
  watchEvent,
} from '../../kinds/generated/meta-v1.js';
import { optional, string, type Type, type } from '../../schema/declare.js';
import type { ObjectNode } from '../../schema/schema-node.js';

const text = () => optional(string());

const SCHEMAS = {
  ListMeta: listMeta,
  Status: status,
  DeleteOptions: deleteOptions,
  Patch: type('Patch', () => ({})),
  WatchEvent: watchEvent,
  APIVersions: apiVersions,
  APIGroup: apiGroup,
  APIGroupList: apiGroupList,
  APIResourceList: apiResourceList,
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
