/**
 * A schema whose types are a version's own. Versions that look alike share what they are written with, but the reference
 * server names the version's own type when a value has the wrong form.
 */
import { type Field, type ObjectNode, type Structural, uniform } from './structural.js';

/** The schema with these types, by name, in the package of that version: `v1.ParamKind` becomes `v1beta1.ParamKind`. */
export function withOwnTypes(schema: ObjectNode, version: string, names: readonly string[]): ObjectNode {
  const ofAnyVersion = new RegExp(`\\bv\\d\\w*\\.(?=(?:${names.join('|')})$)`);
  const rename = (node: Structural): Structural => {
    const goType = node.goType.replace(ofAnyVersion, `${version}.`);
    if (node.type === 'list') return uniform({ ...node, goType, items: rename(node.items) });
    if (node.type === 'map') return uniform({ ...node, goType, values: rename(node.values) });
    if (node.type !== 'object') return uniform({ ...node, goType });
    const fields = new Map<string, Field>();
    for (const field of node.fields.values()) fields.set(field.name, { ...field, node: rename(field.node) });
    return uniform({ ...node, goType, fields });
  };
  return rename(schema) as ObjectNode;
}
