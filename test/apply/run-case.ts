/** Runs the cases of the tables against a cluster over HTTP. `apply-tables.test.ts` describes the notation. */
import { createFetchHandler, type FetchHandler } from 'orchplane/http';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect } from 'vitest';
import { type FieldSet, printPaths } from '../../src/merge/apply/field-set.js';
import { isRecord } from '../../src/util/json.js';
import { collectionPath, firstVersionOf, OWN_KINDS } from './kinds.js';

type Json = Readonly<Record<string, unknown>>;

/** One request; exactly one of the verbs is set. */
const VERBS = ['apply', 'create', 'update', 'merge', 'strategic', 'json', 'wait', 'delete', 'get'] as const;
type Verb = (typeof VERBS)[number];

export interface Step extends Partial<Record<Verb, unknown>> {
  readonly by?: string;
  readonly force?: boolean;
  readonly at?: string;
  readonly version?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly userAgent?: string;
  readonly type?: string;
  readonly code?: number;
  readonly object?: Json;
  readonly answer?: Json;
  readonly managers?: Readonly<Record<string, readonly string[] | string>>;
  readonly times?: Readonly<Record<string, number | null>>;
  readonly conflicts?: readonly string[];
  readonly fails?: Json;
  readonly warnings?: readonly string[];
  readonly writes?: boolean;
}

const KNOWN = new Set<string>([
  ...VERBS,
  ...['by', 'force', 'at', 'version', 'name', 'namespace', 'query', 'userAgent', 'type'],
  ...['code', 'object', 'answer', 'managers', 'times', 'conflicts', 'fails', 'warnings', 'writes'],
]);

export interface Case {
  readonly name: string;
  readonly kind: string;
  readonly steps: readonly Step[];
}

/** The content types of the verbs with a body. */
const TYPES: Partial<Record<Verb, string>> = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  create: 'application/json',
  update: 'application/json',
};

const METHODS: Partial<Record<Verb, string>> = { create: 'POST', update: 'PUT', delete: 'DELETE', get: 'GET' };

interface Answer {
  readonly code: number;
  readonly body: Json;
  readonly warnings: readonly string[];
}

const HOST = 'http://cluster.local';
const NAME = 'x';

export async function runCase({ kind, steps }: Case): Promise<void> {
  const cluster = testCluster({ dialect: 'kubernetes' });
  for (const own of OWN_KINDS) cluster.install(own);
  const played = new Play(cluster, kind);
  for (const [index, step] of steps.entries()) await played.take(step, `step ${index + 1}`);
}

class Play {
  readonly #cluster: TestCluster;
  readonly #handler: FetchHandler;
  readonly #kind: string;
  readonly #start: number;

  constructor(cluster: TestCluster, kind: string) {
    this.#cluster = cluster;
    this.#handler = createFetchHandler(cluster);
    this.#kind = kind;
    this.#start = cluster.clock.now();
  }

  async take(step: Step, where: string): Promise<void> {
    const unknown = Object.keys(step).filter((key) => !KNOWN.has(key));
    expect(unknown, `${where} says something that has no meaning`).toEqual([]);
    if (step.wait !== undefined) return this.#cluster.clock.advance(seconds(step.wait) * 1000);
    const before = await this.#stored(step);
    const answer = await this.#send(step);
    const after = await this.#stored(step);
    this.#compareAnswer(step, answer, where);
    const isRefused = answer.code >= 400;
    // A failed step changes nothing.
    if (isRefused) expect(after, where).toEqual(before);
    if (step.writes !== undefined) {
      expect(versionOf(after) !== versionOf(before), `${where} writes`).toBe(step.writes);
    }
    if (step.object !== undefined) expectPart(after, step.object, where);
    if (step.managers !== undefined) expectManagers(managersOf(after, this.#kind), step.managers, where);
    if (step.times !== undefined) expect(this.#timesOf(after), where).toEqual(step.times);
  }

  async #send(step: Step): Promise<Answer> {
    const verb = VERBS.find((each) => step[each] !== undefined);
    if (verb === undefined) throw new Error(`a step without a verb: ${JSON.stringify(step)}`);
    const collection = verb === 'create' && step.at === undefined;
    const query = new URLSearchParams(step.query);
    if (step.by !== undefined) query.set('fieldManager', step.by);
    if (step.force !== undefined) query.set('force', String(step.force));
    const headers = new Headers({ 'content-type': step.type ?? TYPES[verb] ?? '' });
    if (step.userAgent !== undefined) headers.set('user-agent', step.userAgent);
    const body = TYPES[verb] === undefined ? undefined : this.#body(verb, step);
    const url = `${HOST}${this.#path(step, collection)}?${query}`;
    const method = METHODS[verb] ?? 'PATCH';
    const response = await this.#handler(
      new Request(url, { method, headers, ...(body === undefined ? {} : { body }) }),
    );
    const text = await response.text();
    // Several warnings are one header; no warning that is expected here contains a quoted comma.
    const warnings = (response.headers.get('warning') ?? '').split(/, (?=299 )/).filter(Boolean);
    return { code: response.status, body: JSON.parse(text) as Json, warnings };
  }

  #path({ version, namespace = 'default', name = NAME, at }: Step, collection = false): string {
    const path = collectionPath(this.#kind, version, namespace);
    return collection ? path : `${path}/${name}${at === undefined ? '' : `/${at}`}`;
  }

  /** A string is sent unchanged; a document is completed with apiVersion, kind and name. */
  #body(verb: Verb, step: Step): string {
    const document = step[verb];
    if (typeof document === 'string') return document;
    if (verb === 'json' || verb === 'merge' || verb === 'strategic') return JSON.stringify(document);
    const { apiVersion, kind, metadata, ...rest } = document as Json;
    const scale = step.at === 'scale';
    return JSON.stringify({
      apiVersion: apiVersion ?? (scale ? 'autoscaling/v1' : (step.version ?? firstVersionOf(this.#kind))),
      kind: kind ?? (scale ? 'Scale' : this.#kind),
      metadata: { name: step.name ?? NAME, ...(isRecord(metadata) ? metadata : {}) },
      ...rest,
    });
  }

  /** The object in the version of the step; undefined if it does not exist. */
  async #stored({ at: _at, ...step }: Step): Promise<Json | undefined> {
    const response = await this.#handler(new Request(`${HOST}${this.#path(step)}`));
    return response.ok ? ((await response.json()) as Json) : undefined;
  }

  #compareAnswer(step: Step, { code, body, warnings }: Answer, where: string): void {
    const shown = `${where}: ${code} ${String(body['message'] ?? '')}`;
    if (step.conflicts !== undefined) {
      expect(body, shown).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(conflictsIn(body), shown).toEqual(step.conflicts);
    } else if (step.fails !== undefined) expectPart({ ...body, code }, step.fails, shown);
    else if (step.code !== undefined) expect(code, shown).toBe(step.code);
    else expect(code, shown).toBeLessThan(300);
    if (step.answer !== undefined) expectPart(body, step.answer, shown);
    if (step.warnings !== undefined) expect(warnings, shown).toEqual(step.warnings.map((text) => `299 - ${text}`));
  }

  /** The times by manager in seconds since the start of the case; null for a manager without a time. */
  #timesOf(object: Json | undefined): Record<string, number | null> {
    const times: Record<string, number | null> = {};
    for (const entry of entriesOf(object)) {
      const at = entry.time === undefined ? null : (Date.parse(entry.time) - this.#start) / 1000;
      times[labelOf(entry, this.#kind)] = at;
    }
    return times;
  }
}

interface Entry {
  readonly manager?: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1: FieldSet;
}

function entriesOf(object: Json | undefined): readonly Entry[] {
  const metadata = object?.['metadata'] as { readonly managedFields?: readonly Entry[] } | undefined;
  return metadata?.managedFields ?? [];
}

/** `a Apply`, `ctrl Update status`, `m Apply autoscaling/v1`. */
function labelOf({ manager = '', operation, apiVersion, subresource }: Entry, kind: string): string {
  const version = apiVersion === firstVersionOf(kind) ? [] : [apiVersion];
  return [manager, operation, ...version, ...(subresource === undefined ? [] : [subresource])].join(' ');
}

type Managers = readonly (readonly [label: string, paths: readonly string[] | string])[];

function managersOf(object: Json | undefined, kind: string): Managers {
  return entriesOf(object).map((entry) => [
    labelOf(entry, kind),
    printPaths(entry.fieldsV1, { left: Number.POSITIVE_INFINITY }),
  ]);
}

/** All managers in the order of the object. `...` matches any fields. */
function expectManagers(found: Managers, expected: NonNullable<Step['managers']>, where: string): void {
  const shown = found.map(([label, paths]) => (expected[label] === '...' ? [label, '...'] : [label, paths]));
  expect(shown, `${where}: managers`).toEqual(Object.entries(expected));
}

function conflictsIn(body: Json): string[] {
  const { causes = [] } = (body['details'] ?? {}) as { causes?: readonly { message: string; field: string }[] };
  return causes.map(({ message, field }) => `${message.replace('conflict with ', '').replaceAll('"', '')} ${field}`);
}

function versionOf(object: Json | undefined): unknown {
  return (object?.['metadata'] as { resourceVersion?: string } | undefined)?.resourceVersion;
}

/** The part of a value that an expectation mentions; null if it is missing. Lists are compared as a whole. */
function part(value: unknown, expected: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(value)) return value.map((item, index) => part(item, expected[index]));
  if (!isRecord(expected) || !isRecord(value)) return value ?? null;
  return Object.fromEntries(Object.keys(expected).map((key) => [key, part(value[key], expected[key])]));
}

function expectPart(value: unknown, expected: unknown, where: string): void {
  expect(part(value, expected), where).toEqual(expected);
}

/** `2s` */
function seconds(text: unknown): number {
  const found = /^(\d+)s$/.exec(String(text));
  if (found === null) throw new Error(`not a time to wait: ${String(text)}`);
  return Number(found[1]);
}
