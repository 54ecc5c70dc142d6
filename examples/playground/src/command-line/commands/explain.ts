/**
 * `explain`: prints the fields of a kind from the server's OpenAPI documents.
 */
import type { Command, CommandContext } from '../command.js';
import { at, isJson, type Json, listAt, mapAt, textAt } from '../json.js';
import type { Resource } from '../resources.js';
import { LineError } from '../split-words.js';

const WIDTH = 76;

export const explain: Command = {
  name: 'explain',
  summary: 'Describe the fields of a kind',
  usage: 'TYPE[.FIELD…] [--recursive]',
  kindAt: 0,
  flags: {
    recursive: { type: 'switch', help: 'all nested fields, without descriptions' },
    'api-version': { type: 'text', help: 'use this version: apps/v1' },
  },
  examples: ['explain pods', 'explain deployment.spec.strategy', 'explain cronjob.spec --recursive'],
  async run(context) {
    const [word, ...more] = context.args;
    if (word === undefined || more.length > 0) {
      throw new LineError('error: You must specify the type of resource to explain. Use "api-resources" for a list.');
    }
    const [type = '', ...path] = word.split('.');
    const resource = await resourceOf(context, type);
    const document = await documentOf(context, resource);
    const root = schemaOf(document, resource);
    let schema = root;
    let field: Json | undefined;
    for (const step of path) {
      field = mapAt(schema, 'properties', step);
      if (at(schema, 'properties', step) === undefined) throw new LineError(`error: field "${step}" does not exist`);
      schema = resolved(document, elementOf(document, field));
    }
    if (resource.group !== '') context.print(`GROUP:      ${resource.group}`);
    context.print(`KIND:       ${resource.kind}`);
    context.print(`VERSION:    ${resource.version}`);
    context.print('');
    if (field !== undefined) context.print(`FIELD: ${path.at(-1)} <${typeOf(document, field)}>\n`);
    context.print('DESCRIPTION:');
    const described = textAt(field, 'description') || textAt(schema, 'description') || '<empty>';
    for (const line of wrapped(described, '    ')) context.print(line);
    const isRecursive = context.flags.isOn('recursive');
    const lines = fieldLines({ document, isRecursive, seen: new Set() }, schema, '  ');
    if (lines.length > 0) for (const line of ['', 'FIELDS:', ...lines]) context.print(line);
    return 0;
  },
};

async function resourceOf(context: CommandContext, type: string): Promise<Resource> {
  const resources = await context.resources();
  const found = resources.one(type);
  const wanted = context.flags.text('api-version');
  if (wanted === undefined) return found;
  const other = resources.ofKind(wanted, found.kind);
  if (other === undefined) throw new LineError(`error: couldn't find resource for "${wanted}, Kind=${found.kind}"`);
  return other;
}

function documentOf({ server }: CommandContext, { group, version }: Resource): Promise<Json> {
  return server.json({ path: `/openapi/v3/${group === '' ? `api/${version}` : `apis/${group}/${version}`}` });
}

function schemaOf(document: Json, { group, version, kind }: Resource): Json {
  const found = Object.values(mapAt(document, 'components', 'schemas')).find((schema) => {
    // The name of the group-version-kind extension depends on the cluster's dialect.
    const key = Object.keys(isJson(schema) ? schema : {}).find((each) => each.endsWith('-group-version-kind'));
    return listAt(schema, key ?? '').some(
      (each) => textAt(each, 'group') === group && textAt(each, 'version') === version && textAt(each, 'kind') === kind,
    );
  });
  if (!isJson(found)) throw new LineError(`error: couldn't find resource for "${group}/${version}, Kind=${kind}"`);
  return found;
}

/** Resolves references, also those inside a single-element `allOf`, which adds a description. */
function resolved(document: Json, schema: Json): Json {
  const reference = textAt(schema, '$ref') || textAt(schema, 'allOf', 0, '$ref');
  if (reference === '') return schema;
  return resolved(document, mapAt(document, 'components', 'schemas', reference.split('/').at(-1) ?? ''));
}

/** The schema of a list's items or a map's values, or the schema itself. */
function elementOf(document: Json, schema: Json): Json {
  const resolvedSchema = resolved(document, schema);
  if (at(resolvedSchema, 'items') !== undefined) return elementOf(document, mapAt(resolvedSchema, 'items'));
  if (isJson(at(resolvedSchema, 'additionalProperties')))
    return elementOf(document, mapAt(resolvedSchema, 'additionalProperties'));
  return resolvedSchema;
}

function typeOf(document: Json, schema: Json): string {
  const reference = textAt(schema, '$ref') || textAt(schema, 'allOf', 0, '$ref');
  const resolvedSchema = resolved(document, schema);
  if (at(resolvedSchema, 'items') !== undefined) return `[]${typeOf(document, mapAt(resolvedSchema, 'items'))}`;
  if (isJson(at(resolvedSchema, 'additionalProperties'))) {
    return `map[string]${typeOf(document, mapAt(resolvedSchema, 'additionalProperties'))}`;
  }
  const type = textAt(resolvedSchema, 'type');
  if (reference !== '' && (type === '' || type === 'object')) return reference.split('.').at(-1) ?? 'Object';
  return type === 'object' || type === '' ? 'Object' : type;
}

interface FieldContext {
  readonly document: Json;
  readonly isRecursive: boolean;
  /** Schemas that are already printed, because schemas can refer to themselves. */
  readonly seen: ReadonlySet<Json>;
}

function fieldLines(context: FieldContext, schema: Json, indent: string): string[] {
  const { document, isRecursive, seen } = context;
  const required = listAt(schema, 'required');
  const entries = Object.entries(mapAt(schema, 'properties')).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.flatMap(([name, value]) => {
    const field = isJson(value) ? value : {};
    const mark = required.includes(name) ? ' -required-' : '';
    const line = `${indent}${name}\t<${typeOf(document, field)}>${mark}`;
    if (isRecursive) {
      const below = elementOf(document, field);
      if (seen.has(below)) return [line];
      return [line, ...fieldLines({ ...context, seen: new Set([...seen, below]) }, below, `${indent}  `)];
    }
    const values = listAt(field, 'enum').map((each) => JSON.stringify(each));
    const choice = values.length === 0 ? [] : [`${indent}enum: ${values.join(', ')}`];
    const words = textAt(field, 'description') || textAt(resolved(document, field), 'description');
    return [line, ...choice, ...wrapped(words || '<no description>', `${indent}  `), ''];
  });
}

function wrapped(text: string, indent: string): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
        lines.push(indent + line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push((indent + line).trimEnd());
  }
  return lines;
}
