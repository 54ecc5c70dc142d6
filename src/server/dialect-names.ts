/**
 * Warns about names of the other dialect in written objects: labels, annotations, finalizers, types, taints, selectors and
 * groups that have no effect here. A strict cluster refuses them.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import { type Dialect, dialects } from '../meta/dialect.js';
import { failure } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { translatorTo } from '../meta/other-dialect.js';
import type { Registry } from '../registry/registry.js';
import { once } from '../util/once.js';

/** The warnings about an object that is about to be written. Throws in a strict cluster. */
export type DialectNameCheck = (served: ServedKind, object: ApiObject) => readonly string[];

export interface DialectNameOptions {
  readonly dialect: Dialect;
  readonly registry: Registry;
  readonly isStrict: boolean;
  /** Called with the first warning about each name, because clients often do not show warnings. */
  readonly warn: (warning: string) => void;
}

const NONE: readonly string[] = Object.freeze([]);

/** Content of users, in which any text may occur. */
const SKIPPED: ReadonlySet<string> = new Set([
  'env',
  'command',
  'args',
  'workingDir',
  'mountPath',
  'message',
  'description',
  // Of a CRD: its content belongs to its author.
  'schema',
]);

/** The same at the top of an object. Metadata is searched separately. */
const SKIPPED_FIELDS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'status',
  'data',
  'stringData',
  'binaryData',
]);

/** Bounds the memory: clients choose the names. */
const MAX_REPORTED = 1_000;

export function createDialectNameCheck({ dialect, registry, isStrict, warn }: DialectNameOptions): DialectNameCheck {
  const translate = once(() => translatorTo(dialect, new Set(registry.installed().map(({ kind }) => kind.group))));
  const reported = new Set<string>();
  return (served, object) => {
    const found = new Map<string, string>();
    const { labels, annotations, finalizers } = object.metadata;
    collectNames(labels, translate(), found);
    collectNames(annotations, translate(), found);
    collectNames(finalizers, translate(), found);
    // The content of a custom resource belongs to its author.
    if (served.kind.representation === 'struct') {
      for (const name in object) {
        if (!SKIPPED_FIELDS.has(name)) collectNames(object[name], translate(), found);
      }
    }
    if (found.size === 0) return NONE;
    const warnings = [...found].map(([name, own]) => warningAbout(name, own, dialect));
    if (isStrict) throw failure({ reason: 'BadRequest', message: warnings.join('; ') });
    for (const warning of warnings) {
      if (reported.has(warning) || reported.size >= MAX_REPORTED) continue;
      reported.add(warning);
      warn(warning);
    }
    return warnings;
  };
}

function warningAbout(name: string, own: string, { name: dialect }: Dialect): string {
  const other = dialects.find(({ name: each }) => each !== dialect)?.name;
  return `"${name}" has no effect in this cluster: it is spelled "${own}" in the dialect ${dialect}; createCluster({ dialect: '${other}' }) uses the other names`;
}

function collectNames(
  value: unknown,
  translate: (text: string) => string | undefined,
  found: Map<string, string>,
): void {
  if (typeof value === 'string') {
    const own = translate(value);
    if (own !== undefined) found.set(value, own);
  } else if (Array.isArray(value)) {
    for (const item of value) collectNames(item, translate, found);
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Readonly<Record<string, unknown>>;
    for (const key in record) {
      if (SKIPPED.has(key)) continue;
      if (key.includes('/') || key.includes('.')) collectNames(key, translate, found);
      if (typeof record[key] !== 'number') collectNames(record[key], translate, found);
    }
  }
}
