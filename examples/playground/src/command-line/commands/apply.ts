/**
 * `apply`: applies the documents of the editor. It always uses server-side apply; without `--server-side` the output
 * uses the terms of client-side apply (created, configured, unchanged).
 */
import type { AppliedManifest } from 'orchplane';
import { type Command, type CommandContext, DRY_RUN_FLAG, OUTPUT_FLAG } from '../command.js';
import { isJson, type Json, listAt, textAt } from '../json.js';
import { type Resource, typeName } from '../resources.js';
import { ServerError } from '../server.js';
import { LineError } from '../split-words.js';
import { documentText, withoutOwners } from './get.js';

export const apply: Command = {
  name: 'apply',
  summary: 'Apply the documents of the editor',
  usage: '-f - [flags]',
  flags: {
    filename: { type: 'text', short: 'f', help: '"-" for the text of the editor', values: ['-'] },
    'field-manager': { type: 'text', help: 'name of the field manager' },
    'server-side': { type: 'switch', help: 'print results as server-side apply does' },
    'force-conflicts': { type: 'switch', help: 'take over fields that other managers own' },
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: ['apply -f -', 'apply -f - --server-side --field-manager=ci --force-conflicts'],
  async run(context) {
    const text = textOf(context);
    const { flags, namespace, identity } = context;
    const isServerSide = flags.isOn('server-side');
    if (flags.isOn('force-conflicts') && !isServerSide) {
      throw new LineError('error: --force-conflicts only works with --server-side');
    }
    const report = await context.shell.apply(text, {
      fieldManager: flags.text('field-manager') ?? (isServerSide ? 'kubectl' : 'kubectl-client-side-apply'),
      force: flags.isOn('force-conflicts'),
      dryRun: isDryRun(context),
      namespace,
      identity,
    });
    return printReport(context, report, (outcome) => (isServerSide ? 'serverside-applied' : outcome));
  },
};

/** The text that `-f` names. Only the editor can be read. */
export function textOf({ flags, shell }: CommandContext): string {
  const file = flags.text('filename');
  if (file === undefined) throw new LineError('error: must specify one of -f and -k');
  if (file !== '-') {
    throw new LineError(
      `error: the path "${file}" does not exist: there are no files here. "-f -" reads the text of the editor`,
    );
  }
  const text = shell.editorText();
  if (text.trim() === '') throw new LineError('error: no objects passed to apply: the editor is empty');
  return text;
}

export function isDryRun({ flags }: CommandContext): boolean {
  return !['none', undefined].includes(flags.text('dry-run'));
}

async function printReport(
  context: CommandContext,
  report: readonly AppliedManifest[],
  word: (outcome: string) => string,
): Promise<number> {
  const resources = await context.resources();
  const output = context.flags.text('output');
  const suffix = isDryRun(context) ? ' (server dry run)' : '';
  let failed = false;
  for (const each of report) {
    if (each.outcome === 'failed') {
      failed = true;
      context.note(failureText(each.error));
      continue;
    }
    for (const warning of each.warnings) context.note(`Warning: ${warning}`);
    const resource = resources.ofKind(each.apiVersion, each.kind);
    const name = `${resource === undefined ? each.kind.toLowerCase() : typeName(resource)}/${each.name}`;
    if (output === 'yaml' || output === 'json') {
      context.print(documentText(withoutOwners(each.object as unknown as Json), output));
    } else {
      context.print(output === 'name' ? name : `${name} ${word(each.outcome)}${suffix}`);
    }
  }
  return failed ? 1 : 0;
}

const CONFLICT_HELP = `Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* to become the only manager, apply again with --server-side --force-conflicts
* to leave the fields to the other managers, remove them from the document
* to share the fields, set them to their current values`;

function failureText(error: Error): string {
  const cause: unknown = error.cause;
  const status = isJson(cause) || cause instanceof Error ? (cause as { status?: unknown }).status : undefined;
  if (!isJson(status)) return `error: ${error.message}`;
  const causes = listAt(status, 'details', 'causes').filter(
    (each) => textAt(each, 'reason') === 'FieldManagerConflict',
  );
  if (textAt(status, 'reason') === 'Conflict' && causes.length > 0)
    return `error: ${textAt(status, 'message')}\n${CONFLICT_HELP}`;
  return new ServerError(status, 0, 'applying "STDIN"').text();
}

/** Prints the result of a write. */
export function printWritten(context: CommandContext, resource: Resource, name: string, what: string): void {
  context.print(`${typeName(resource)}/${name} ${what}${isDryRun(context) ? ' (server dry run)' : ''}`);
}
