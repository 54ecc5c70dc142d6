/**
 * `get`: prints objects as the server's tables, or as documents. `-w` watches until it is stopped.
 */
import { type Command, type CommandContext, OUTPUT_FLAG, SELECTOR_FLAGS } from '../command.js';
import { at, isJson, type Json, listAt, mapAt, textAt } from '../json.js';
import { jsonPathText } from '../json-path.js';
import { pathOf, type Resource, typeName } from '../resources.js';
import { ServerError } from '../server.js';
import { LineError } from '../split-words.js';
import { layOut, type TableOptions, tableRows } from '../table.js';
import { type Found, objectsOf, placeOf, selectors, type Targets, targetsOf } from '../targets.js';
import { yamlText } from '../yaml-text.js';

export const TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.orch.io,application/json';

export const get: Command = {
  name: 'get',
  summary: 'Print objects as a table or as documents',
  usage: '(TYPE[,TYPE…] [NAME…] | TYPE/NAME…) [flags]',
  kindAt: 0,
  flags: {
    ...SELECTOR_FLAGS,
    output: {
      ...OUTPUT_FLAG,
      help: "wide, yaml, json, name or jsonpath='{.spec.replicas}'",
      values: ['wide', 'yaml', 'json', 'name', 'jsonpath='],
    },
    watch: { type: 'switch', short: 'w', help: 'watch for changes; stop with Ctrl+C' },
    'watch-only': { type: 'switch', help: 'print only changes' },
    'no-headers': { type: 'switch', help: 'omit the header' },
    'show-labels': { type: 'switch', help: 'print labels as the last column' },
    'label-columns': { type: 'texts', short: 'L', help: 'labels to print as columns' },
    'show-managed-fields': { type: 'switch', help: 'include metadata.managedFields' },
    'ignore-not-found': { type: 'switch', help: 'do not report missing objects' },
    'sort-by': { type: 'text', help: 'sort by a field: .metadata.creationTimestamp' },
  },
  examples: ['get pods -o wide', 'get deploy,rs -l app=web', 'get configmap settings -o yaml', 'get pods -w'],
  async run(context) {
    const targets = await targetsOf(context);
    const output = context.flags.text('output');
    if (context.flags.isOn('watch') || context.flags.isOn('watch-only')) return watch(context, targets);
    if (output === undefined || output === 'wide') return tables(context, targets);
    return documents(context, targets, output);
  },
};

async function tables(context: CommandContext, targets: Targets): Promise<number> {
  const isMixed = targets.resources.length > 1;
  let failed = false;
  let printed = 0;
  for (const resource of targets.resources) {
    const names = targets.named?.filter((named) => named.resource === resource).map(({ name }) => name);
    const found: Json[] = [];
    for (const name of names ?? [undefined]) {
      try {
        found.push(await table(context, resource, name));
      } catch (error) {
        if (!(error instanceof ServerError)) throw error;
        // With several names, print each error and the objects that exist.
        if (error.reason === 'NotFound' && context.flags.isOn('ignore-not-found')) continue;
        failed = true;
        context.note(error.text());
      }
    }
    const [first] = found;
    if (first === undefined) continue;
    const rows = found.flatMap((each) => listAt(each, 'rows'));
    if (rows.length === 0) continue;
    if (isMixed && printed > 0) context.print('');
    const sorted = sortRows(rows, context.flags.text('sort-by'));
    const prefix = isMixed ? `${typeName(resource)}/` : undefined;
    for (const line of layOut(tableRows({ ...first, rows: sorted }, tableOptions(context, resource, prefix)))) {
      context.print(line);
    }
    printed += rows.length;
  }
  if (printed === 0 && !failed && !context.flags.isOn('ignore-not-found')) context.note(nothingFound(context, targets));
  return failed ? 1 : 0;
}

function table(context: CommandContext, resource: Resource, name: string | undefined): Promise<Json> {
  const namespace = context.flags.isOn('all-namespaces') ? undefined : context.namespace;
  const includeObject = context.flags.has('sort-by') ? 'Object' : undefined;
  return context.server.json({
    path: pathOf(resource, { namespace, name }),
    query: name === undefined ? { ...selectors(context), includeObject } : { includeObject },
    accept: TABLE,
  });
}

function tableOptions({ flags }: CommandContext, resource: Resource, prefix?: string): TableOptions {
  return {
    wide: flags.text('output') === 'wide',
    withNamespace: flags.isOn('all-namespaces') && resource.isNamespaced,
    prefix,
    noHeaders: flags.isOn('no-headers'),
    showLabels: flags.isOn('show-labels'),
    labelColumns: flags.texts('label-columns'),
  };
}

function nothingFound(context: CommandContext, { resources }: Targets): string {
  const isHere = resources.some(({ isNamespaced }) => isNamespaced) && !context.flags.isOn('all-namespaces');
  return isHere ? `No resources found in ${context.namespace} namespace.` : 'No resources found';
}

function sortRows(rows: readonly unknown[], field: string | undefined): readonly unknown[] {
  if (field === undefined) return rows;
  const path = field
    .replace(/^\{?\.?/, '')
    .replace(/\}$/, '')
    .split('.');
  const key = (row: unknown): unknown => at(row, 'object', ...path);
  return [...rows].sort((left, right) => {
    const [a, b] = [key(left), key(right)];
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a ?? '') < String(b ?? '') ? -1 : 1;
  });
}

async function watch(context: CommandContext, targets: Targets): Promise<number> {
  const [resource, ...more] = targets.resources;
  if (resource === undefined || more.length > 0 || (targets.named?.length ?? 0) > 1) {
    throw new LineError('error: you may only specify a single resource type');
  }
  const name = targets.named?.[0]?.name;
  const first = await table(context, resource, name);
  const options = tableOptions(context, resource);
  const widths: number[] = [];
  if (!context.flags.isOn('watch-only'))
    for (const line of layOut(tableRows(first, options), widths)) context.print(line);
  const namespace = context.flags.isOn('all-namespaces') ? undefined : context.namespace;
  const named = name === undefined ? undefined : `metadata.name=${name}`;
  const events = context.server.lines({
    path: pathOf(resource, { namespace }),
    query: {
      ...selectors(context),
      ...(named === undefined ? {} : { fieldSelector: named }),
      watch: 'true',
      resourceVersion: textAt(first, 'metadata', 'resourceVersion'),
    },
    accept: TABLE,
    signal: context.signal,
  });
  // Only the first table of a watch contains column definitions.
  const columnDefinitions = listAt(first, 'columnDefinitions');
  for await (const event of events) {
    if (at(event, 'type') === 'ERROR') throw new ServerError(mapAt(event, 'object'), 0);
    const rows = tableRows({ ...mapAt(event, 'object'), columnDefinitions }, { ...options, noHeaders: true });
    for (const line of layOut(rows, widths)) context.print(line);
  }
  return 0;
}

async function documents(context: CommandContext, targets: Targets, output: string): Promise<number> {
  const template = /^jsonpath=(.*)$/s.exec(output)?.[1];
  if (template === undefined && !['yaml', 'json', 'name'].includes(output)) {
    throw new LineError(
      `error: unable to match a printer suitable for the output format "${output}", allowed formats are: json,jsonpath,name,wide,yaml`,
    );
  }
  const found = await objectsOf(context, targets);
  if (output === 'name') {
    for (const { resource, name } of found) context.print(`${typeName(resource)}/${name}`);
    return 0;
  }
  const keepsOwners = context.flags.isOn('show-managed-fields');
  const shown = found.map(({ object }) => (keepsOwners ? object : withoutOwners(object)));
  const isOne = targets.named?.length === 1;
  const document = isOne
    ? shown[0]
    : { apiVersion: 'v1', items: shown, kind: 'List', metadata: { resourceVersion: '' } };
  context.print(template === undefined ? documentText(document, output) : jsonPathText(template, document));
  return 0;
}

export function documentText(document: unknown, output: string): string {
  return output === 'json' ? JSON.stringify(document, null, 4) : yamlText(document).trimEnd();
}

export function withoutOwners(object: Json): Json {
  const metadata = at(object, 'metadata');
  if (!isJson(metadata)) return object;
  const { managedFields: _owners, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** Reads one object as the document that is printed and edited. */
export async function readDocument(context: CommandContext, found: Omit<Found, 'object'>): Promise<Json> {
  return withoutOwners(await context.server.json({ path: placeOf(context, found) }));
}
