/**
 * Writes the protobuf message types of all groups, in the notation of `src/codec/protobuf/notation.ts`.
 */
import { isMessage, lookUpMessage } from './parse.mjs';
import { GO_INITIALS, goNameExceptions } from './to-go.mjs';
import { header } from './to-typescript.mjs';

/** Protobuf types of scalars that differ from their name. */
const WIRE_TYPES = {
  number: 'double',
  time: 'Time',
  microTime: 'MicroTime',
  quantity: 'Quantity',
  intOrString: 'IntOrString',
  rawExtension: 'RawExtension',
  extraValue: 'ExtraValue',
};

export function messageTable(model) {
  const groups = model.groups.map((group) => {
    const versions = group.versions.map((section) => versionText(section, model));
    const apiGroup = group.apiGroup.startsWith('@')
      ? `serviceGroup('${group.apiGroup.slice(1)}')`
      : `'${group.apiGroup.replace(/^-$/, '')}'`;
    return `  {\n    name: '${group.name}',\n    group: ${apiGroup},\n    versions: [\n${versions.join('\n')}\n    ],\n  },`;
  });
  return `${header('*')}
/** Message types of every group whose types are known beforehand. */
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupTypes } from './notation.js';

export const groups: readonly GroupTypes[] = [
${groups.join('\n')}
];

/** Beginnings of field names that Go names write in capitals, as alternatives of a regular expression. */
export const goInitials = '${GO_INITIALS}';

/** Go names of fields that do not follow from the name in JSON: \`Type.field=GoName\`. */
export const goNames = \`
${goNameExceptions(model).join('\n')}
\`;
`;
}

function versionText(section, model) {
  const like = section.like === undefined ? '' : `\n        like: '${section.like.split('/')[1]}',`;
  const messages = section.entries.filter(isMessage).map((entry) => messageLine(entry, section, model));
  return `      {
        version: '${section.version}',${like}
        kinds: '${section.kinds.join(' ')}',
        types: \`
${messages.sort().join('\n')}
\`,
      },`;
}

/** Fields in order of number; a number is written when it is not the next one. */
function messageLine(entry, section, model) {
  const fields = entry.fields.filter(({ number }) => number !== '-').sort((left, right) => left.number - right.number);
  let last = 0;
  const texts = fields.map((field) => {
    const number = field.number === last + 1 ? '' : `=${field.number}`;
    last = field.number;
    return fieldText(field, number, entry, section, model);
  });
  if (entry.kind === 'kind') {
    // Every object has its metadata as the first field.
    if (fields[0]?.number === 2) texts[0] = fieldText(fields[0], '', entry, section, model);
    texts.unshift('metadata:ObjectMeta');
  }
  return [entry.goName, ...texts].join(' ');
}

function fieldText(field, number, entry, section, model) {
  if (field.embeds !== undefined) return `${number}:${field.embeds.split('/').at(-1)}`;
  const { form, type } = wireType(field.type, entry, section, model);
  const { goPointer, goValue, proto } = field.attributes;
  const isPointer = form === '' && (goPointer === true || (field.mark.startsWith('*') && goValue !== true));
  const name = proto ?? type;
  return `${field.name}${number}${isPointer ? '*' : ''}${form}${name === 'string' ? '' : `:${name}`}`;
}

function wireType(type, entry, section, model) {
  if (type.scalar === 'resourceList') return { form: '{}', type: 'Quantity' };
  if (type.of !== undefined)
    return { form: type.form === 'list' ? '[]' : '{}', type: wireType(type.of, entry, section, model).type };
  if (type.scalar !== undefined) return { form: '', type: WIRE_TYPES[type.scalar] ?? type.scalar };
  if (entry.kind === 'message' || type.handWritten !== undefined) return { form: '', type: type.name };
  const { target } = type;
  if (target.kind === 'string') return { form: '', type: 'string' };
  const isInScope = lookUpMessage(target.goName, section, model) !== undefined;
  return { form: '', type: isInScope ? target.goName : `${target.section.id}/${target.goName}` };
}
