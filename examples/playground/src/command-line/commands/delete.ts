/**
 * `delete`: deletes objects by name, by selector, or those of the editor. Unlike kubectl it does not wait for
 * finalizers; it prints the finalizers of objects that still exist.
 */
import { type Command, type CommandContext, DRY_RUN_FLAG, SELECTOR_FLAGS } from '../command.js';
import { listAt, textAt } from '../json.js';
import { pathOf, typeName } from '../resources.js';
import { ServerError } from '../server.js';
import { LineError } from '../split-words.js';
import { type Found, namespaceOf, objectsOf, targetsOf } from '../targets.js';
import { isDryRun, textOf } from './apply.js';

const CASCADES: Readonly<Record<string, string>> = {
  background: 'Background',
  foreground: 'Foreground',
  orphan: 'Orphan',
  true: 'Background',
  false: 'Orphan',
};

export const deleteCommand: Command = {
  name: 'delete',
  summary: 'Delete objects',
  usage: '(TYPE [NAME…] [-l …] [--all] | TYPE/NAME… | -f -) [flags]',
  kindAt: 0,
  flags: {
    ...SELECTOR_FLAGS,
    filename: { type: 'text', short: 'f', help: '"-" for the objects of the editor', values: ['-'] },
    all: { type: 'switch', help: 'all objects of the kind' },
    cascade: {
      type: 'text',
      alone: 'background',
      help: 'how dependents are deleted: background, foreground, orphan',
      values: ['background', 'foreground', 'orphan'],
    },
    force: { type: 'switch', help: 'delete immediately, without a grace period' },
    'grace-period': { type: 'text', help: 'seconds until the object is removed' },
    now: { type: 'switch', help: 'the same as --grace-period=1' },
    'ignore-not-found': { type: 'switch', help: 'do not report missing objects' },
    wait: { type: 'switch', help: 'accepted, but delete never waits' },
    'dry-run': DRY_RUN_FLAG,
  },
  examples: ['delete pod web', 'delete deployment web --cascade=orphan', 'delete configmaps -l app=web'],
  async run(context) {
    const found = await findTargets(context);
    if (found.length === 0 && !context.flags.isOn('ignore-not-found')) context.print('No resources found');
    const isForced = context.flags.isOn('force');
    if (isForced && found.length > 0) {
      context.note(
        'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.',
      );
    }
    let failed = false;
    for (const each of found) failed = !(await deleted(context, each)) || failed;
    return failed ? 1 : 0;
  },
};

type Target = Omit<Found, 'object'> & { readonly namespace: string | undefined };

async function findTargets(context: CommandContext): Promise<readonly Target[]> {
  const { flags, args } = context;
  if (flags.has('filename')) return targetsOfEditor(context);
  const targets = await targetsOf(context, args);
  if (targets.named === undefined) {
    if (!flags.isOn('all') && !flags.has('selector') && !flags.has('field-selector')) {
      throw new LineError('error: resource(s) were provided, but no name was specified');
    }
    return (await objectsOf(context, targets)).map((found) => ({ ...found, namespace: namespaceOf(found.object) }));
  }
  return targets.named.map((named) => ({ ...named, namespace: context.namespace }));
}

/** Uses a dry-run apply to find the objects of the editor's text. */
async function targetsOfEditor(context: CommandContext): Promise<readonly Target[]> {
  const { namespace, identity } = context;
  const request = { fieldManager: 'kubectl', force: true, dryRun: true, namespace, identity };
  const report = await context.shell.apply(textOf(context), request);
  const resources = await context.resources();
  // Delete in reverse order: custom resources before their CRD.
  return report.toReversed().map((each) => {
    const { apiVersion = '', kind = '', name } = each;
    const resource = resources.ofKind(apiVersion, kind);
    if (resource === undefined || name === undefined) {
      throw new LineError(
        each.outcome === 'failed' ? `error: ${each.error.message}` : `error: no matches for kind "${kind}"`,
      );
    }
    return { resource, name, namespace: each.namespace ?? context.namespace };
  });
}

async function deleted(context: CommandContext, { resource, name, namespace }: Target): Promise<boolean> {
  const { flags, server } = context;
  const path = pathOf(resource, { namespace, name });
  try {
    await server.send({
      method: 'DELETE',
      path,
      body: { kind: 'DeleteOptions', apiVersion: 'v1', ...grace(context), propagationPolicy: cascade(context) },
      query: isDryRun(context) ? { dryRun: 'All' } : {},
    });
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    if (error.reason === 'NotFound' && flags.isOn('ignore-not-found')) return true;
    context.note(error.text());
    return false;
  }
  const outcome = flags.isOn('force') ? 'force deleted' : 'deleted';
  context.print(`${typeName(resource)} "${name}" ${outcome}${isDryRun(context) ? ' (server dry run)' : ''}`);
  if (!isDryRun(context)) await printFinalizers(context, path);
  return true;
}

function grace({ flags }: CommandContext): { gracePeriodSeconds?: number } {
  const given = flags.text('grace-period') ?? (flags.isOn('force') ? '0' : flags.isOn('now') ? '1' : undefined);
  if (given === undefined || given === '-1') return {};
  const seconds = Number(given);
  if (!Number.isInteger(seconds)) throw new LineError(`error: invalid argument "${given}" for "--grace-period" flag`);
  if (seconds === 0 && !flags.isOn('force')) {
    throw new LineError('error: --grace-period=0 needs --force');
  }
  return { gracePeriodSeconds: seconds };
}

function cascade({ flags }: CommandContext): string {
  const given = flags.text('cascade') ?? 'background';
  const policy = Object.hasOwn(CASCADES, given) ? CASCADES[given] : undefined;
  if (policy === undefined) {
    throw new LineError(`error: invalid cascade value (${given}). Must be "background", "foreground", or "orphan"`);
  }
  return policy;
}

async function printFinalizers(context: CommandContext, path: string): Promise<void> {
  try {
    const object = await context.server.json({ path });
    const finalizers = listAt(object, 'metadata', 'finalizers').map(String);
    const own = listAt(object, 'spec', 'finalizers').map(String);
    const isGoing = textAt(object, 'metadata', 'deletionTimestamp') !== '';
    const holding = [...finalizers, ...own];
    if (isGoing && holding.length > 0) context.note(`# not removed yet, because of finalizers: ${holding.join(', ')}`);
  } catch (error) {
    // The object is deleted, or the user may not read it.
    if (!(error instanceof ServerError)) throw error;
  }
}
