/**
 * `describe`: prints an object's fields as an outline, and its Events.
 */

import { ageText, timeOf } from '../age.js';
import { type Command, type CommandContext, SELECTOR_FLAGS } from '../command.js';
import { isJson, type Json, listAt, mapAt, textAt } from '../json.js';
import { LineError } from '../split-words.js';
import { layOut } from '../table.js';
import { type Found, namespaceOf, objectsOf, targetsOf } from '../targets.js';

export const describe: Command = {
  name: 'describe',
  summary: 'Print the details of objects and their Events',
  usage: '(TYPE [NAME…] | TYPE/NAME…) [flags]',
  kindAt: 0,
  flags: SELECTOR_FLAGS,
  examples: ['describe deployment web', 'describe pods -l app=web'],
  async run(context) {
    const targets = await targetsOf(context);
    const found = await objectsOf(context, targets);
    if (found.length === 0) throw new LineError(`No resources found in ${context.namespace} namespace.`);
    for (const [index, each] of found.entries()) {
      if (index > 0) context.print('\n');
      for (const line of await described(context, each)) context.print(line);
    }
    return 0;
  },
};

async function described(context: CommandContext, { object }: Found): Promise<readonly string[]> {
  const { apiVersion, kind, metadata: _metadata, ...body } = object;
  const metadata = mapAt(object, 'metadata');
  const { name, namespace, labels, annotations, managedFields: _owners, ...about } = metadata;
  const head = [
    ['Name:', String(name)],
    ...(namespace === undefined ? [] : [['Namespace:', String(namespace)]]),
    ['Labels:', ...pairs(labels, '=')],
    ['Annotations:', ...pairs(annotations, ': ')],
    ['API Version:', String(apiVersion)],
    ['Kind:', String(kind)],
  ];
  const lines = head.flatMap(([title = '', ...values]) =>
    values.map((value, index) => `${(index === 0 ? title : '').padEnd(14)}${value}`),
  );
  lines.push(...outline({ metadata: about, ...body }, ''));
  return [...lines, ...(await eventLines(context, object))];
}

function pairs(map: unknown, separator: string): readonly string[] {
  const entries = Object.entries(isJson(map) ? map : {});
  return entries.length === 0 ? ['<none>'] : entries.map(([key, value]) => `${key}${separator}${String(value)}`);
}

/** Prints fields with titles, values beside them, and nested fields indented. */
function outline(value: Json, indent: string): string[] {
  const entries = Object.entries(value).filter(([, each]) => each !== null && !isEmpty(each));
  const scalars = entries.filter(([, each]) => typeof each !== 'object');
  const width = Math.max(0, ...scalars.map(([key]) => title(key).length));
  return entries.flatMap(([key, each]) => {
    const name = `${indent}${title(key)}:`;
    if (Array.isArray(each)) return [name, ...each.flatMap((item) => itemLines(item, `${indent}  `))];
    if (isJson(each)) return [name, ...outline(each, `${indent}  `)];
    return [`${name.padEnd(indent.length + width + 1)}  ${String(each)}`];
  });
}

function itemLines(item: unknown, indent: string): string[] {
  return isJson(item) ? outline(item, indent) : [`${indent}${typeof item === 'string' ? item : JSON.stringify(item)}`];
}

function isEmpty(value: unknown): boolean {
  return isJson(value) && Object.keys(value).length === 0;
}

/** `readyReplicas` → `Ready Replicas`. Keys that users chose (labels, data) stay unchanged. */
function title(key: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(key)) return key;
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

async function eventLines(context: CommandContext, object: Json): Promise<readonly string[]> {
  const namespace = namespaceOf(object) ?? 'default';
  const list = await context.server.json({
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
    query: { fieldSelector: `involvedObject.uid=${textAt(object, 'metadata', 'uid')}` },
  });
  const events = [...listAt(list, 'items')].sort((left, right) => timeOf(left) - timeOf(right));
  if (events.length === 0) return ['Events:  <none>'];
  const rows = events.map((event) => [
    `  ${textAt(event, 'type')}`,
    textAt(event, 'reason'),
    ageText(context.shell.now() - timeOf(event)),
    textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
    textAt(event, 'message'),
  ]);
  const header = ['  Type', 'Reason', 'Age', 'From', 'Message'];
  const ruler = header.map((cell, index) => (index === 0 ? '  ----' : '-'.repeat(cell.length)));
  return ['Events:', ...layOut([header, ruler, ...rows])];
}
