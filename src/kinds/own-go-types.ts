/**
 * The Go types of a version that shares its schema with another version: messages name the package of the version.
 */
import { type ObjectNode, type SchemaNode, uniform } from '../schema/schema-node.js';

/** A schema whose types belong to the package of the version, as far as the version has its own. */
export function withOwnGoTypes(
  schema: ObjectNode,
  { apiVersion, ownTypes }: { readonly apiVersion: string; readonly ownTypes?: readonly string[] },
): ObjectNode {
  return ownTypes === undefined
    ? schema
    : moveGoTypes(schema, apiVersion.slice(apiVersion.lastIndexOf('/') + 1), ownTypes);
}

/** Moves the named Go types of a schema to the package of a version: `v1.ParamKind` becomes `v1beta1.ParamKind`. */
function moveGoTypes(schema: ObjectNode, version: string, names: readonly string[]): ObjectNode {
  const ofAnyVersion = new RegExp(`\\bv\\d\\w*\\.(?=(?:${names.join('|')})$)`);
  const rename = (node: SchemaNode): SchemaNode => {
    const goType = node.goType.replace(ofAnyVersion, `${version}.`);
    if (node.type === 'list') return uniform({ ...node, goType, items: rename(node.items) });
    if (node.type === 'map') return uniform({ ...node, goType, values: rename(node.values) });
    if (node.type !== 'object') return uniform({ ...node, goType });
    const fields = Array.from(node.fields.values(), (field) => ({ ...field, node: rename(field.node) }));
    return uniform({ ...node, goType, fields: new Map(fields.map((field) => [field.name, field])) });
  };
  return rename(schema) as ObjectNode;
}
