/**
 * JSON and merge patches compared with recorded responses of a real server. A small model keeps the last object seen at each
 * path and applies the next patch to it; whatever the server does to the object afterwards (validation, conflicts,
 * tracking) is not modelled, so only those parts of a response are compared that the patch alone decides.
 */
import { describe, expect, it } from 'vitest';
import { applyJsonPatch, parseJsonPatch } from '../../../src/merge/json-patch.js';
import type { PatchDecodeOptions } from '../../../src/merge/merge-patch.js';
import { applyMergePatch } from '../../../src/merge/merge-patch.js';
import { StatusError } from '../../../src/meta/errors.js';
import { quote } from '../../../src/text/go/go-text.js';
import { deepFreeze, isRecord } from '../../../src/util/json.js';
import { type RecordedResponse, readGroup, type Scenario, type Step } from '../../conformance/recordings.mjs';

/** One patch whose starting point is known. */
interface Case {
  readonly name: string;
  readonly document: Record<string, unknown>;
  readonly type: string;
  readonly patch: unknown;
  /** False if the value lacks something of the text: the spelling of `3.0`, a repeated key. */
  readonly faithful: boolean;
  readonly options: PatchDecodeOptions;
  readonly response: RecordedResponse;
}

const GENERIC = 'the server rejected our request due to an error in our request';

describe('recorded patches', () => {
  const cases = ['patch-json', 'patch-merge'].flatMap((group) => readGroup(group).flatMap(casesOf));
  const has = (test: (response: RecordedResponse) => boolean) => cases.filter(({ response }) => test(response));
  const failures = has(isPatchFailure);
  const undecodable = cases.filter(({ response, faithful }) => faithful && printedResult(response) !== undefined);
  const successes = cases.filter(({ response, document }) => response.status === 200 && document.kind === 'ConfigMap');
  const others = has((response) => response.status !== 200 && !isPatchFailure(response));

  it('contains more than twenty patches of each outcome', () => {
    expect([successes.length, failures.length, undecodable.length].every((count) => count > 20)).toBe(true);
  });

  it.each(successes)('returns the recorded object for $name', (recorded) => {
    const { result, findings } = apply(recorded);
    expect(visibleParts(result)).toEqual(visibleParts(recorded.response.body));
    for (const finding of findings) expect(recorded.response.warning).toContain(`299 - ${quote(finding)}`);
  });

  it.each(failures)('fails with the recorded message for $name', (recorded) => {
    const error = caught(() => apply(recorded));
    expect([error?.code, error?.message]).toEqual([recorded.response.status, recorded.response.body.message]);
  });

  it.each(undecodable)('prints the recorded result for $name', (recorded) => {
    expect(quote(JSON.stringify(apply(recorded).result))).toBe(printedResult(recorded.response));
  });

  it.each(others)('applies the patch of $name, whose failure has another cause', (recorded) => {
    expect(() => apply(recorded)).not.toThrow();
  });
});

function apply({ document, type, patch, options }: Case): { result: unknown; findings: readonly string[] } {
  if (type === 'application/merge-patch+json') {
    return { result: applyMergePatch(deepFreeze(document), patch, options), findings: [] };
  }
  const parsed = parseJsonPatch(patch, options);
  return { result: applyJsonPatch(deepFreeze(document), parsed), findings: parsed.findings };
}

/** Walks a scenario and collects its patches, each with the object it starts from. */
function casesOf({ name, steps, expect: responses }: Scenario): Case[] {
  const objects = new Map<string, Record<string, unknown>>();
  const byId = new Map<string, unknown>();
  return steps.flatMap((step, index) => {
    const response = responses[index];
    if (response === undefined) return [];
    const document = objects.get(step.path);
    remember(objects, step, response);
    if (step.id !== undefined) byId.set(step.id, response.body);
    const type = step.headers?.['content-type'] ?? '';
    const patch = bodyOf(step, byId);
    if (step.method !== 'PATCH' || document === undefined || patch === undefined) return [];
    if (type !== 'application/json-patch+json' && type !== 'application/merge-patch+json') return [];
    const validation = step.query?.fieldValidation as PatchDecodeOptions['fieldValidation'];
    // The server rejects any other value before it reads the patch.
    if (validation !== undefined && !['Ignore', 'Warn', 'Strict'].includes(validation)) return [];
    const options = validation === undefined ? {} : { fieldValidation: validation };
    const faithful = step.rawBody === undefined || JSON.stringify(patch) === step.rawBody;
    return [{ name: `${name} #${index}`, document, type, patch, faithful, options, response }];
  });
}

function remember(objects: Map<string, Record<string, unknown>>, step: Step, response: RecordedResponse): void {
  if (response.status >= 300 || step.query?.dryRun !== undefined || response.body.metadata === undefined) return;
  const name = (response.body.metadata as { name?: string }).name ?? '';
  objects.set(step.method === 'POST' ? `${step.path}/${name}` : step.path, response.body);
}

/** The parsed body with `${id.path}` filled in; undefined for text that is not JSON, which the codec rejects. */
function bodyOf(step: Step, byId: ReadonlyMap<string, unknown>): unknown {
  const text = step.rawBody ?? JSON.stringify(step.body ?? null);
  const filled = text.replace(/\$\{(\w+)\.([^}]+)\}/g, (_all, id: string, path: string) =>
    String(path.split('.').reduce((value: unknown, key) => (isRecord(value) ? value[key] : value), byId.get(id))),
  );
  try {
    return JSON.parse(filled);
  } catch {
    return undefined;
  }
}

/** The failures that the patch itself causes, as opposed to those of the object that came out of it. */
function isPatchFailure({ status, body }: RecordedResponse): boolean {
  const message = String(body.message);
  if (status === 422) return message === GENERIC;
  return status === 413 || (status === 400 && /^(error decoding patch|Invalid JSON Patch)/.test(message));
}

/** The quoted JSON that the server prints when the patched object does not decode. */
function printedResult({ status, body }: RecordedResponse): string | undefined {
  if (status !== 422) return undefined;
  return /^ "" is invalid: patch: Invalid value: ("(?:[^"\\]|\\.)*")/.exec(String(body.message))?.[1];
}

/** Data, labels and annotations as stored: no empty maps, and a null in a map of strings is the empty string. */
function visibleParts(object: unknown): unknown {
  const { data, metadata } = object as { data?: unknown; metadata?: { labels?: unknown; annotations?: unknown } };
  const stored = (map: unknown) => Object.entries(map ?? {}).map(([key, value]) => [key, value ?? ''] as const);
  return [data, metadata?.labels, metadata?.annotations].map((map) => Object.fromEntries(stored(map)));
}

function caught(run: () => unknown): StatusError | undefined {
  try {
    run();
  } catch (error) {
    if (StatusError.is(error)) return error;
    throw error;
  }
  return undefined;
}
