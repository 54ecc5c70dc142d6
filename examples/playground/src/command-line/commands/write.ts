/**
 * Commands that change existing objects: `edit`, `patch`, `label`, `annotate`, `scale`, `set image`.
 */
import { type Command, type CommandContext, DRY_RUN_FLAG, OUTPUT_FLAG, SELECTOR_FLAGS } from '../command.js';
import { at, isJson, type Json, listAt, mapAt, textAt } from '../json.js';
import { pathOf } from '../resources.js';
import type { Call } from '../server.js';
import { LineError } from '../split-words.js';
import { type Found, namespaceOf, objectsOf, placeOf, targetOf, targetsOf } from '../targets.js';
import { yamlText } from '../yaml-text.js';
import { isDryRun, printWritten } from './apply.js';
import { readDocument } from './get.js';

const MANAGER = { type: 'text', help: 'name of the field manager' } as const;

export const edit: Command = {
  name: 'edit',
  summary: 'Open an object in the editor',
  usage: 'TYPE NAME | TYPE/NAME',
  kindAt: 0,
  flags: {},
  async run(context) {
    const target = await targetOf(context);
    context.shell.openInEditor(yamlText(await readDocument(context, target)));
    context.print('opened in the editor; apply it there after editing');
    return 0;
  },
};

const PATCH_TYPES: Readonly<Record<string, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

export const patch: Command = {
  name: 'patch',
  summary: 'Change fields of an object',
  usage: '(TYPE NAME | TYPE/NAME) -p PATCH [flags]',
  kindAt: 0,
  flags: {
    patch: { type: 'text', short: 'p', help: 'the patch, as JSON' },
    type: { type: 'text', help: 'strategic, merge or json', values: ['strategic', 'merge', 'json'] },
    subresource: { type: 'text', help: 'status or scale', values: ['status', 'scale'] },
    'field-manager': MANAGER,
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: [`patch deployment web -p '{"spec":{"replicas":3}}'`],
  async run(context) {
    const { flags } = context;
    const target = await targetOf(context);
    const given = flags.text('patch');
    if (given === undefined)
      throw new LineError('error: must specify --patch or --patch-file containing the contents of the patch');
    const type = flags.text('type') ?? 'strategic';
    const contentType = Object.hasOwn(PATCH_TYPES, type) ? PATCH_TYPES[type] : undefined;
    if (contentType === undefined)
      throw new LineError(`error: --type must be one of [json merge strategic], not "${type}"`);
    const path = placeOf(context, target, flags.text('subresource'));
    const before = await context.server.json({ path });
    const after = await context.server.json(
      change(context, { method: 'PATCH', path, contentType, body: jsonOf(given) }, 'kubectl-patch'),
    );
    printWritten(
      context,
      target.resource,
      target.name,
      versionOf(before) === versionOf(after) ? 'patched (no change)' : 'patched',
    );
    return 0;
  },
};

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LineError(`error: unable to parse "${text}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const label = metadataCommand('label', 'labels', ['labeled', 'unlabeled', 'not labeled']);
export const annotate = metadataCommand('annotate', 'annotations', ['annotated', 'annotated', 'annotated']);

function metadataCommand(
  name: string,
  field: 'labels' | 'annotations',
  [changed, removed, same]: readonly [string, string, string],
): Command {
  return {
    name,
    summary: `Set or remove ${field} of objects`,
    usage: '(TYPE NAME… | TYPE/NAME…) KEY=VALUE… KEY-… [flags]',
    kindAt: 0,
    flags: {
      ...SELECTOR_FLAGS,
      overwrite: { type: 'switch', help: 'replace existing values' },
      all: { type: 'switch', help: 'all objects of the kind' },
      'field-manager': MANAGER,
      'dry-run': DRY_RUN_FLAG,
    },
    examples: [`${name} pods web tier=front`, `${name} pods web tier-`],
    async run(context) {
      const isChange = (word: string) => /^[^=]+=/.test(word) || (word.endsWith('-') && word.length > 1);
      const changes = context.args.filter((word, index) => index > 0 && isChange(word));
      const targets = await targetsOf(
        context,
        context.args.filter((word) => !changes.includes(word)),
      );
      if (changes.length === 0) throw new LineError(`error: at least one ${field.slice(0, -1)} update is required`);
      if (targets.named === undefined && !context.flags.isOn('all') && !context.flags.has('selector')) {
        throw new LineError('error: resource(s) were provided, but no name was specified');
      }
      for (const found of await objectsOf(context, targets)) {
        const values = changedValues(context, found, { field, changes });
        const before = mapAt(found.object, 'metadata', field);
        const differs = Object.entries(values).filter(([key, value]) => (before[key] ?? null) !== value);
        const path = pathOf(found.resource, { namespace: namespaceOf(found.object), name: found.name });
        const body = { metadata: { [field]: values } };
        const contentType = 'application/merge-patch+json';
        await context.server.send(change(context, { method: 'PATCH', path, contentType, body }, `kubectl-${name}`));
        const isRemoval = differs.length > 0 && differs.every(([, value]) => value === null);
        printWritten(context, found.resource, found.name, differs.length === 0 ? same : isRemoval ? removed : changed);
      }
      return 0;
    },
  };
}

function changedValues(
  context: CommandContext,
  { object }: Found,
  { field, changes }: { readonly field: string; readonly changes: readonly string[] },
): Record<string, string | null> {
  const before = mapAt(object, 'metadata', field);
  const values: Record<string, string | null> = {};
  for (const each of changes) {
    const equals = each.indexOf('=');
    const key = equals < 0 ? each.slice(0, -1) : each.slice(0, equals);
    const value = equals < 0 ? null : each.slice(equals + 1);
    const old = before[key];
    if (value === null && old === undefined) context.print(`${field.slice(0, -1)} "${key}" not found.`);
    if (value !== null && old !== undefined && old !== value && !context.flags.isOn('overwrite')) {
      throw new LineError(`error: '${key}' already has a value (${String(old)}), and --overwrite is false`);
    }
    values[key] = value;
  }
  return values;
}

export const scale: Command = {
  name: 'scale',
  summary: 'Set the number of replicas',
  usage: '--replicas=COUNT (TYPE NAME… | TYPE/NAME…)',
  kindAt: 0,
  flags: {
    replicas: { type: 'text', help: 'the new number of replicas' },
    'current-replicas': { type: 'text', help: 'require this current number of replicas' },
    'dry-run': DRY_RUN_FLAG,
  },
  examples: ['scale deployment web --replicas=5'],
  async run(context) {
    const replicas = Number(context.flags.text('replicas') ?? 'none');
    if (!Number.isInteger(replicas) || replicas < 0) {
      throw new LineError('error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0');
    }
    const { named } = await targetsOf(context);
    if (named === undefined) throw new LineError('error: resource(s) were provided, but no name was specified');
    for (const target of named) {
      const path = placeOf(context, target, 'scale');
      const current = context.flags.text('current-replicas');
      const before = await context.server.json({ path });
      if (current !== undefined && at(before, 'spec', 'replicas') !== Number(current)) {
        throw new LineError(`error: Expected replicas to be ${current}, was ${String(at(before, 'spec', 'replicas'))}`);
      }
      const body = { spec: { replicas } };
      const contentType = 'application/merge-patch+json';
      await context.server.send(change(context, { method: 'PATCH', path, contentType, body }, 'kubectl-scale'));
      printWritten(context, target.resource, target.name, 'scaled');
    }
    return 0;
  },
};

export const set: Command = {
  name: 'set',
  summary: 'Set the image of containers',
  usage: 'image (TYPE NAME | TYPE/NAME) CONTAINER=IMAGE…',
  words: ['image'],
  kindAt: 1,
  flags: { 'field-manager': MANAGER, 'dry-run': DRY_RUN_FLAG },
  examples: ['set image deployment/web web=nginx:1.29', 'set image deployment/web *=nginx:1.29'],
  async run(context) {
    const [what, ...rest] = context.args;
    if (what !== 'image') throw new LineError(`error: set ${what ?? ''}: only "set image" is there`);
    const images = rest.filter((word) => word.includes('='));
    if (images.length === 0) throw new LineError('error: at least one image update is required');
    const target = await targetOf(
      context,
      rest.filter((word) => !word.includes('=')),
    );
    const path = placeOf(context, target);
    const before = await context.server.json({ path });
    const template = at(before, 'spec', 'template') === undefined ? [] : ['template', 'spec'];
    const containers = listAt(before, 'spec', ...template, 'containers').map((each) => textAt(each, 'name'));
    const updates = images.flatMap((word) => imageUpdates(word, containers));
    const body =
      template.length === 0
        ? { spec: { containers: updates } }
        : { spec: { template: { spec: { containers: updates } } } };
    const contentType = PATCH_TYPES['strategic'] ?? '';
    const after = await context.server.json(
      change(context, { method: 'PATCH', path, contentType, body }, 'kubectl-set'),
    );
    if (versionOf(before) !== versionOf(after)) printWritten(context, target.resource, target.name, 'image updated');
    return 0;
  },
};

function imageUpdates(word: string, containers: readonly string[]): readonly Json[] {
  const [name = '', ...rest] = word.split('=');
  const image = rest.join('=');
  if (name === '*') return containers.map((each) => ({ name: each, image }));
  if (!containers.includes(name)) throw new LineError(`error: unable to find container named "${name}"`);
  return [{ name, image }];
}

/** Adds the dry-run and field-manager parameters to a write request. */
export function change(context: CommandContext, call: Call, manager: string): Call {
  const fieldManager = context.flags.text('field-manager') ?? manager;
  return { ...call, query: { ...call.query, fieldManager, ...(isDryRun(context) ? { dryRun: 'All' } : {}) } };
}

function versionOf(object: unknown): string {
  return isJson(object) ? textAt(object, 'metadata', 'resourceVersion') : '';
}
