/**
 * The fields that no manager can own: those that the server sets, and those that identify the object.
 */
import { type Field, type ObjectNode, uniform } from '../../schema/structural.js';
import { setOfFields } from './field-set.js';

const IDENTITY = ['apiVersion', 'kind'];
const SERVERS_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

export const UNTRACKED = setOfFields([...IDENTITY, 'metadata', ...SERVERS_METADATA.map((name) => `metadata.${name}`)]);

const schemas = new WeakMap<ObjectNode, ObjectNode>();

/** The schema of an object without these fields, for walks that skip them. */
export function trackedSchema(schema: ObjectNode): ObjectNode {
  let tracked = schemas.get(schema);
  if (tracked === undefined) {
    tracked = withoutUntracked(schema);
    schemas.set(schema, tracked);
  }
  return tracked;
}

function withoutUntracked(schema: ObjectNode): ObjectNode {
  const metadata = schema.fields.get('metadata');
  // With preserved unknown fields, removed fields would be visited as unknown ones.
  if (schema.preserveUnknown || metadata?.node.type !== 'object') return schema;
  const node = without(metadata.node, SERVERS_METADATA);
  const fields = new Map<string, Field>(without(schema, IDENTITY).fields).set('metadata', { ...metadata, node });
  return uniform({ ...schema, fields });
}

function without(node: ObjectNode, names: readonly string[]): ObjectNode {
  return uniform({ ...node, fields: new Map([...node.fields].filter(([name]) => !names.includes(name))) });
}
