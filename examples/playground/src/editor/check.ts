/**
 * Diagnostics while the user types: YAML syntax, then fields and types by the cluster's OpenAPI, then the server's
 * answer to a dry run. Each diagnostic points at the part of the text that it is about.
 */
import type { Diagnostic } from '@codemirror/lint';
import type { Tree } from '@lezer/common';
import type { Status } from 'orchplane';
import { pathOf } from '../session/refs.js';
import type { Session } from '../session/session.js';
import { findPath, type Outline, type OutlinedDocument, outlineOf } from './outline.js';
import { type KindSchema, type Schema, type Schemas, typeText } from './schemas.js';

/** The result of the dry run of one document. */
export interface DryRunResult {
  readonly document: OutlinedDocument;
  readonly outcome: 'fine' | 'conflict' | 'refused' | 'unknown';
  readonly status?: Status;
  /** The object as the dry run returned it. */
  readonly object?: unknown;
}

export interface CheckResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly dryRuns: readonly DryRunResult[];
}

export async function checkText(session: Session, schemas: Schemas, tree: Tree, text: string): Promise<CheckResult> {
  const syntax = syntaxErrors(tree, text);
  if (syntax.length > 0) return { diagnostics: syntax, dryRuns: [] };
  const diagnostics: Diagnostic[] = [];
  const dryRuns: DryRunResult[] = [];
  for (const document of outlineOf(tree, text)) {
    const local = await checkDocument(session, schemas, document);
    diagnostics.push(...local);
    if (local.some(({ severity }) => severity === 'error')) {
      dryRuns.push({ document, outcome: 'unknown' });
      continue;
    }
    const dryRun = await dryRunApply(session, document);
    dryRuns.push(dryRun);
    diagnostics.push(...diagnosticsOf(dryRun));
  }
  return { diagnostics, dryRuns };
}

function syntaxErrors(tree: Tree, text: string): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const tab = text.search(/^\t/m);
  if (tab >= 0) found.push(at({ from: tab, to: tab + 1 }, 'YAML must be indented with spaces, not with tabs'));
  tree.iterate({
    enter(node) {
      if (!node.type.isError || found.length > 4) return;
      const from = Math.min(node.from, Math.max(0, text.length - 1));
      const to = Math.min(text.length, Math.max(node.to, from + 1));
      found.push(at({ from, to }, 'Invalid YAML: check the indentation, and the space after each colon'));
    },
  });
  return found;
}

async function checkDocument(
  session: Session,
  schemas: Schemas,
  document: OutlinedDocument,
): Promise<readonly Diagnostic[]> {
  const { root, apiVersion, kind, name } = document;
  if (root === undefined) return [];
  if (root.type !== 'map') return [at(root, 'A manifest must be a map with apiVersion and kind')];
  const pointAt = (key: string) => {
    const entry = root.entries.find((each) => each.key === key);
    return entry?.at ?? root.entries[0]?.keyAt ?? root;
  };
  if (apiVersion === undefined) return [at(pointAt('apiVersion'), 'apiVersion is missing')];
  if (kind === undefined) return [at(pointAt('kind'), 'kind is missing')];
  if (session.kindOf(apiVersion, kind) === undefined) {
    const others = session.cluster.kinds().filter(({ gvk }) => gvk.kind === kind);
    const advice =
      others.length === 0 ? '' : `; ${kind} is served in ${others.map((each) => each.apiVersion).join(', ')}`;
    return [
      at(
        pointAt(others.length === 0 ? 'kind' : 'apiVersion'),
        `This cluster serves no ${kind} in ${apiVersion}${advice}`,
      ),
    ];
  }
  const known = await schemas.of(apiVersion, kind);
  const found: Diagnostic[] = [];
  if (known !== undefined) checkNode(known, known.root, root, '', found);
  if (found.length === 0 && name === undefined && findPath(root, 'metadata.generateName').isComplete !== true) {
    found.push(at(pointAt('metadata'), 'metadata.name is missing'));
  }
  return found;
}

function checkNode(known: KindSchema, schema: Schema, node: Outline, path: string, found: Diagnostic[]): void {
  const resolvedSchema = known.resolved(schema);
  if (resolvedSchema === undefined) return;
  const expected = expectedType(resolvedSchema);
  const isNull = node.type === 'scalar' && node.value === null;
  if (expected !== undefined && !isNull && !fits(expected, node)) {
    found.push(
      at(node, `${path || 'the document'} is ${article(typeText(known, resolvedSchema))}, not ${nodeType(node)}`),
    );
    return;
  }
  if (node.type === 'map') checkMap(known, resolvedSchema, node, path, found);
  else if (node.type === 'list' && resolvedSchema.items !== undefined) {
    const { items } = resolvedSchema;
    for (const [index, { value }] of node.items.entries()) {
      if (value !== undefined) checkNode(known, items, value, `${path}[${index}]`, found);
    }
  }
}

function checkMap(
  known: KindSchema,
  schema: Schema,
  node: Outline & { type: 'map' },
  path: string,
  found: Diagnostic[],
): void {
  const isOpen = Object.entries(schema).some(
    ([key, value]) => key.endsWith('preserve-unknown-fields') && value === true,
  );
  const seen = new Set<string>();
  for (const { key, keyAt, value } of node.entries) {
    if (seen.has(key)) found.push(at(keyAt, `duplicate field ${key}`));
    seen.add(key);
    const below = known.below(schema, key);
    const where = path === '' ? key : `${path}.${key}`;
    if (
      below === undefined &&
      schema.properties !== undefined &&
      schema.additionalProperties === undefined &&
      !isOpen
    ) {
      const near = nearest(key, Object.keys(schema.properties));
      found.push(at(keyAt, `unknown field ${where}${near === undefined ? '' : `; did you mean ${near}?`}`));
    } else if (below !== undefined && value !== undefined) checkNode(known, below, value, where, found);
  }
}

type Expected = 'map' | 'list' | 'text' | 'number' | 'integer' | 'boolean' | undefined;

function expectedType({ type, format, oneOf, properties }: Schema): Expected {
  if (format === 'int-or-string' || format === 'quantity' || oneOf !== undefined) return undefined;
  if (properties !== undefined || type === 'object') return 'map';
  if (type === 'array') return 'list';
  if (type === 'string') return 'text';
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : undefined;
}

function fits(expected: Exclude<Expected, undefined>, node: Outline): boolean {
  if (expected === 'map' || expected === 'list') return node.type === expected;
  if (node.type !== 'scalar') return false;
  if (expected === 'text') return typeof node.value === 'string';
  if (expected === 'integer') return Number.isInteger(node.value);
  return typeof node.value === expected;
}

function nodeType(node: Outline): string {
  if (node.type === 'map') return 'a map';
  if (node.type === 'list') return 'a list';
  if (typeof node.value === 'string') return 'a string';
  return typeof node.value === 'number' ? `the number ${node.value}; write "${node.value}"` : `${node.value}`;
}

function article(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type.replace(/^\[\]/, 'list of ')}`;
}

/** The valid name closest to a misspelled one. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const close = names.map((name) => ({ name, far: distance(word.toLowerCase(), name.toLowerCase()) }));
  const [best] = close.sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}

/** The edit distance: the number of letters that have to be changed, added or removed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Sends a dry-run apply. It writes nothing and does not appear in the request log. */
export async function dryRunApply(session: Session, document: OutlinedDocument): Promise<DryRunResult> {
  const { apiVersion = '', kind = '', name, namespace, text } = document;
  const served = session.kindOf(apiVersion, kind);
  if (served === undefined || name === undefined) return { document, outcome: 'unknown' };
  const { manager, force, namespace: usual } = session.state;
  const query = new URLSearchParams({ dryRun: 'All', fieldManager: manager, force: String(force) });
  const answer = await session.request(`${pathOf(served, namespace ?? usual, name)}?${query}`, {
    method: 'PATCH',
    body: text,
    contentType: 'application/apply-patch+yaml',
  });
  if (answer.status === undefined) return { document, outcome: 'fine', object: answer.body };
  const isConflict = answer.status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
  return { document, outcome: isConflict ? 'conflict' : 'refused', status: answer.status };
}

function diagnosticsOf({ document, outcome, status }: DryRunResult): readonly Diagnostic[] {
  const { root } = document;
  if (status === undefined || root === undefined) return [];
  const severity = outcome === 'conflict' ? 'warning' : 'error';
  const causes = (status.details?.causes ?? []).filter(({ field }) => field !== undefined);
  if (causes.length === 0) {
    const [, path = ''] = /(\.[\w.[\]="-]+): /.exec(status.message ?? '') ?? [];
    return [at(path === '' ? headOf(root) : findPath(root, path).at, status.message ?? 'refused', severity)];
  }
  return causes.map(({ field = '', message = '' }) => {
    const { at: position, node, isComplete } = findPath(root, field);
    // A scalar or list item is marked itself, a map by its key.
    const pointed = isComplete && node?.type === 'scalar' ? node : position === root ? headOf(root) : position;
    return at(pointed, `${field}: ${message}`, severity);
  });
}

/** Diagnostics about the whole document are shown at its first line. */
function headOf(root: Outline): { readonly from: number; readonly to: number } {
  return root.type === 'map' && root.entries[0] !== undefined ? root.entries[0].at : root;
}

function at(
  range: { readonly from: number; readonly to: number },
  message: string,
  severity: Diagnostic['severity'] = 'error',
): Diagnostic {
  return { from: range.from, to: Math.max(range.to, range.from), message, severity };
}
