/**
 * Completion at the cursor: the fields and values that the cluster serves, with their descriptions.
 */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Text } from '@codemirror/state';
import { pathOf } from '../session/refs.js';
import type { Session } from '../session/session.js';
import { type CursorPath, cursorPath, type Path } from './cursor-path.js';
import { type KindSchema, type Schema, type Schemas, typeText } from './schemas.js';

export function completions(session: Session, schemas: Schemas) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const cursor = cursorAt(context);
    if (cursor === undefined) return null;
    if (!context.explicit && cursor.word === '' && cursor.expects === 'key' && !startsItem(cursor)) return null;
    const options = await optionsFor(session, schemas, cursor);
    if (options.length === 0) return null;
    return { from: context.pos - cursor.word.length, options, validFor: /^[\w./-]*$/ };
  };
}

/** After a dash the list opens without a key press, as it does after a colon. */
function startsItem({ lines, row }: CursorPath): boolean {
  return /^\s*-\s+$/.test(lines[row] ?? '');
}

function cursorAt({ state, pos }: CompletionContext): CursorPath | undefined {
  const line = state.doc.lineAt(pos);
  const { lines, row } = documentAround(state.doc, line.number);
  return cursorPath(lines, row, pos - line.from);
}

/** The lines of the document around a line, between two separators. */
function documentAround(doc: Text, number: number): { lines: readonly string[]; row: number } {
  const isEnd = (at: number): boolean => /^---(\s|$)/.test(doc.line(at).text);
  let [first, last] = [number, number];
  while (first > 1 && !isEnd(first - 1)) first--;
  while (last < doc.lines && !isEnd(last + 1)) last++;
  const lines = Array.from({ length: last - first + 1 }, (_, index) => doc.line(first + index).text);
  return { lines, row: number - first };
}

async function optionsFor(session: Session, schemas: Schemas, cursor: CursorPath): Promise<readonly Completion[]> {
  const { path, expects, lines } = cursor;
  const [top] = path;
  const apiVersion = topLevelValue(lines, 'apiVersion');
  const kind = topLevelValue(lines, 'kind');
  if (expects === 'value' && path.length === 1 && top === 'apiVersion') return apiVersions(session, kind);
  if (expects === 'value' && path.length === 1 && top === 'kind') return kinds(session, apiVersion);
  if (expects === 'value' && path.join('.') === 'metadata.namespace') return namespaces(session);
  const known = apiVersion === undefined || kind === undefined ? undefined : await schemas.of(apiVersion, kind);
  if (known === undefined) return expects === 'key' && path.length === 0 ? TOP_LEVEL_FIELDS : [];
  const schema = known.at(path);
  if (schema === undefined) return [];
  if (expects === 'value') return values(session, cursor, known, schema);
  return fields(known, schema, cursor);
}

/** Offered as long as the document has no kind. */
const TOP_LEVEL_FIELDS: readonly Completion[] = ['apiVersion', 'kind', 'metadata'].map((label) => ({
  label,
  type: 'property',
  apply: label === 'metadata' ? 'metadata:\n  name: ' : `${label}: `,
}));

function topLevelValue(lines: readonly string[], key: string): string | undefined {
  for (const line of lines) {
    const [, word] = new RegExp(`^${key}:\\s+["']?([\\w./-]+)`).exec(line) ?? [];
    if (word !== undefined) return word;
  }
  return undefined;
}

function apiVersions({ cluster }: Session, kind: string | undefined): readonly Completion[] {
  const served = cluster.kinds().filter(({ gvk }) => kind === undefined || gvk.kind === kind);
  const all = served.length > 0 ? served : cluster.kinds();
  const names = [...new Set(all.map(({ apiVersion }) => apiVersion))];
  return names.map((label) => ({
    label,
    type: 'namespace',
    detail: some(all.filter(({ apiVersion }) => apiVersion === label).map(({ gvk }) => gvk.kind)),
  }));
}

function some(words: readonly string[]): string {
  return words.length > 3 ? `${words.slice(0, 3).join(', ')} …` : words.join(', ');
}

function kinds({ cluster }: Session, apiVersion: string | undefined): readonly Completion[] {
  const served = cluster.kinds().filter((kind) => apiVersion === undefined || kind.apiVersion === apiVersion);
  return served
    .filter(({ verbs }) => verbs.includes('create'))
    .map((kind) => ({
      label: kind.gvk.kind,
      type: 'class',
      detail: kind.apiVersion,
      info: `${kind.namespaced ? 'Namespaced' : 'Cluster-scoped'}: ${pathOf(kind, kind.namespaced ? '…' : undefined)}`,
    }));
}

function namespaces({ state }: Session): readonly Completion[] {
  return [...state.objects.values()]
    .filter(({ kind, apiVersion }) => kind === 'Namespace' && apiVersion === 'v1')
    .map(({ metadata }) => ({ label: metadata.name, type: 'namespace' }));
}

function fields(known: KindSchema, schema: Schema, cursor: CursorPath): readonly Completion[] {
  const written = siblings(cursor);
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !written.has(name) && !(cursor.path.length === 0 && name === 'status'))
    .map(([name, field]) => {
      const resolvedSchema = known.resolved(field);
      const info = [resolvedSchema?.description, defaultText(resolvedSchema)]
        .filter((part) => part !== undefined)
        .join(' ');
      return {
        label: name,
        type: 'property',
        detail: `${typeText(known, field)}${required.has(name) ? ' · required' : ''}`,
        ...(info === '' ? {} : { info }),
        apply: name + continuation(resolvedSchema, cursor.column),
        boost: required.has(name) ? 20 : 0,
      };
    });
}

function defaultText(schema: Schema | undefined): string | undefined {
  const value = schema?.default;
  if (value === undefined || value === '' || (typeof value === 'object' && value !== null)) return undefined;
  return `Unless given: ${JSON.stringify(value)}.`;
}

/** The text inserted after a field's name, so that the user can type its value next. */
function continuation(schema: Schema | undefined, column: number): string {
  const indent = ' '.repeat(column);
  if (schema?.type === 'array') return `:\n${indent}- `;
  const isMap = schema?.type === 'object' || schema?.properties !== undefined;
  return isMap ? `:\n${indent}  ` : ': ';
}

/** The keys that the map already has, found by indentation. */
function siblings({ lines, row, column }: CursorPath): ReadonlySet<string> {
  const keys = new Set<string>();
  const collect = (start: number, step: 1 | -1): void => {
    for (let at = start; at >= 0 && at < lines.length; at += step) {
      const line = lines[at] ?? '';
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
      const [lead = ''] = /^(?:\s*-\s+)*\s*/.exec(line) ?? [];
      const first = line.search(/\S/);
      if (lead.length === column && (step === -1 || first === column)) {
        keys.add(/^"?([\w./-]*)/.exec(line.slice(column))?.[1] ?? '');
      }
      // A line further left, or the dash of an item, ends this map.
      if (first < column) return;
    }
  };
  // The line of the cursor may be the first line of its item.
  if ((lines[row] ?? '').search(/\S|$/) >= column || !/^\s*-/.test(lines[row] ?? '')) collect(row - 1, -1);
  collect(row + 1, 1);
  return keys;
}

async function values(
  session: Session,
  cursor: CursorPath,
  known: KindSchema,
  schema: Schema,
): Promise<readonly Completion[]> {
  const detail = typeText(known, schema);
  const option = (label: string): Completion => ({
    label,
    type: 'enum',
    detail: schema.default === label ? 'default' : detail,
    ...(schema.description === undefined ? {} : { info: schema.description }),
  });
  if (schema.type === 'boolean') return ['true', 'false'].map(option);
  if (schema.enum !== undefined) return schema.enum.map((value) => option(String(value)));
  if (schema.type !== 'string' || schema.format !== undefined) return [];
  return (await supportedValues(session, cursor)).map(option);
}

/**
 * Returns the allowed values of a field. The OpenAPI of built-in kinds does not list them, but the server's error for
 * an unsupported value does: so this function sends a dry run with an unsupported value.
 */
async function supportedValues(session: Session, { lines, row, word, path }: CursorPath): Promise<readonly string[]> {
  const [apiVersion, kind] = [topLevelValue(lines, 'apiVersion') ?? '', topLevelValue(lines, 'kind') ?? ''];
  const served = session.kindOf(apiVersion, kind);
  if (served === undefined || path[0] === 'metadata') return [];
  const line = lines[row] ?? '';
  const probe = lines.with(row, `${line.slice(0, line.length - word.length)} "?"`).join('\n');
  const { status } = await session.request(`${pathOf(served, session.state.namespace)}?dryRun=All`, {
    method: 'POST',
    body: probe,
    contentType: 'application/yaml',
    as: { user: 'playground', groups: ['system:masters'] },
  });
  const field = fieldText(path);
  const cause = status?.details?.causes?.find(
    (each) => each.field === field && each.message?.includes('supported values'),
  );
  return [...(cause?.message?.split('supported values:')[1] ?? '').matchAll(/"([^"]*)"/g)].map(
    ([, value = '']) => value,
  );
}

/** Formats a path as the server's messages do: `spec.containers[0].name`. */
export function fieldText(path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}
