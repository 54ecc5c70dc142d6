/**
 * Writes the Go structs of pods and volumes, which messages of the reference server print, and the Go names of fields.
 */
import { header } from './to-typescript.mjs';

/** Beginnings of field names that Go names write in capitals. */
export const GO_INITIALS =
  'api|aws|ca|cel|cidr|csi|dns|fc|fs|gce|gid|gmsa|grpc|http|id|ip|iqn|iscsi|json|nfs|os|pd(?!ID)|qos|rbd|se|ssl|tcp|tls|ttl|tty|uid|url|wwid';

const INITIALS = new RegExp(`^(${GO_INITIALS})(?=[A-Z]|s?$)`);

/** Messages print values of these types and of all types in them. */
const ROOTS = ['PodSpec', 'PersistentVolumeSource'];

/** Structs whose internal form differs from v1; `core/v1/pod/diff/go-types.ts` has them. */
const INTERNAL = [
  'PodSpec',
  'PodSecurityContext',
  'VolumeSource',
  'PersistentVolumeSource',
  'ServiceAccountTokenProjection',
];

/** Named strings whose name shows in a list, as a value or in the type of a pointer. */
const NAMED_STRINGS = {
  Capability: 'Capability',
  ContainerRestartPolicy: 'ContainerRestartPolicy',
  MountPropagationMode: 'MountPropagationMode',
  NodeInclusionPolicy: 'NodeInclusionPolicy',
  RecursiveReadOnlyMode: 'RecursiveReadOnlyMode',
  PersistentVolumeAccessMode: 'PersistentVolumeAccessMode',
  ResourceName: 'resource',
};

const SCALARS = { quantity: 'Quantity', intOrString: 'IntOrString', resourceList: 'ResourceList' };

/** `Type.field=GoName` for every field with a Go name in the tables. */
export function goNameExceptions(model) {
  const names = new Set();
  for (const { entries } of model.sections.values()) {
    for (const { goName: type, fields } of entries) {
      for (const { name, goName } of fields) if (goName !== undefined) names.add(`${type}.${name}=${goName}`);
    }
  }
  return [...names].sort();
}

export function goStructs(model) {
  const core = model.sections.get('core/v1');
  const structs = new Map();
  const visit = (entry) => {
    const name = structName(entry);
    if (structs.has(name)) return;
    structs.set(name, entry.fields.map(fieldText).join(' '));
    for (const { embedded, type } of entry.fields) {
      const target = embedded ?? (type.of ?? type).target;
      if (target !== undefined && target.kind !== 'string') visit(target);
    }
  };
  for (const root of ROOTS) visit(core.names.get(root));
  for (const name of INTERNAL) structs.delete(name);
  const lines = [...structs]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, text]) => `  '${name}': '${text}',`);
  return `${header('core')}
/** Fields of Go structs, in the notation of \`core/v1/pod/diff/go-types.ts\`. */
export const GO_STRUCTS: Readonly<Record<string, string>> = {
${lines.join('\n')}
};
`;
}

function structName({ section, goName }) {
  return section.id === 'meta/v1' ? `v1.${goName}` : goName;
}

function fieldText(field) {
  if (field.embedded !== undefined) return `${field.embedded.goName}:@${field.embedded.goName}`;
  const { name, mark, type, attributes } = field;
  const goName = field.goName ?? (type.handWritten === undefined ? regularName(name) : type.name);
  const isPointer =
    type.form === 'one' && type.scalar !== 'resourceList' && (mark.startsWith('*') || attributes.goPointer === true);
  return `${goName}${wireName(goName) === name ? '' : `=${name}`}:${isPointer ? '*' : ''}${typeName(type)}`;
}

function typeName(type) {
  if (type.form === 'list') return `[]${typeName(type.of)}`;
  if (type.form === 'map') return 'labels';
  if (type.scalar !== undefined) return SCALARS[type.scalar] ?? type.scalar;
  if (type.handWritten !== undefined) return `v1.${type.name}`;
  return type.target.kind === 'string' ? (NAMED_STRINGS[type.name] ?? 'string') : structName(type.target);
}

function regularName(name) {
  const text = name.replace(INITIALS, (initials) => initials.toUpperCase());
  return text[0].toUpperCase() + text.slice(1);
}

/** The name in JSON that a Go name implies: `DNSPolicy` → `dnsPolicy`. */
function wireName(name) {
  const capitals = /^[A-Z]+/.exec(name)?.[0].length ?? 0;
  const lowered = capitals > 1 && capitals < name.length ? capitals - 1 : capitals;
  return name.slice(0, lowered).toLowerCase() + name.slice(lowered);
}
