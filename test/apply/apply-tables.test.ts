/**
 * Server-side apply as tables: one YAML file per topic with a list of cases, each of which is a list of steps. The
 * expected results follow the specification and recordings of the reference server. spec: Server-side apply
 *
 *     cases:
 *       - name: keeps a field that another manager shares
 *         kind: ConfigMap                        # of every step; a file may set it for all its cases
 *         steps:
 *           - apply: { data: { k: '1' } }        # one verb: apply, create, update (PUT), merge, strategic, json, delete, get
 *             by: a                              # the fieldManager; none is sent if absent
 *             managers: { a Apply: [.data.k] }
 *           - wait: 2s                           # advances the clock
 *
 * Content that several steps share is written once and anchored, in the first step or under `documents`.
 *
 * Request: apiVersion, kind and metadata.name are added to a document that lacks them; a string is sent unchanged. The
 * other keys are `force`, `at` (subresource), `version` (if it is not the first version of the kind), `name` and
 * `namespace` (in the URL), `query`, `type` (content type) and `userAgent`.
 *
 * Expectations, for the stored object after the step:
 * - `object`: a part of the object. `~` stands for a missing field; lists are complete.
 * - `managers`: all managers in order, each with its paths as messages print them. A label is `name operation`, then
 *   the version if it is not the first version of the kind, then the subresource. `...` stands for any paths.
 * - `times`: seconds since the start of the case by manager; `~` for a manager without a time.
 * - `writes`: whether the step changed the resourceVersion.
 * - `conflicts`: the step fails with these conflicts, each as `manager path`.
 * - `fails`: the step fails with this Status. A failed step never changes the object.
 * - `answer`: the response, if it is not the object. `code`, `warnings`: the other parts of the response.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { yamlBody } from '../../src/codec/yaml.js';
import { type Case, runCase } from './run-case.js';

interface Table {
  readonly kind?: string;
  readonly cases: readonly (Omit<Case, 'kind'> & Partial<Pick<Case, 'kind'>>)[];
}

const folder = new URL('./', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

function readTable(file: string): readonly Case[] {
  const body = yamlBody(readFileSync(new URL(file, folder), 'utf8'));
  // A duplicate key would hide an expectation.
  expect(body.repeatedKeys(), file).toEqual([]);
  const { kind = '', cases } = body.read().value as Table;
  return cases.map((each) => ({ kind, ...each }));
}

describe.each(files)('server-side apply: %s', (file) => {
  for (const each of readTable(file)) {
    test(each.name, async () => {
      expect(each.steps.length).toBeGreaterThan(0);
      await runCase(each);
    });
  }
});
