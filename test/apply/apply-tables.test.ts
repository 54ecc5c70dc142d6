/**
 * Server-side apply as tables: one file per phenomenon, in each a list of cases, in each case a list of steps. The
 * expectations are those of the specification and of a recorded server. spec: Server-side apply
 *
 *     cases:
 *       - name: giving up a field that another manager shares
 *         kind: ConfigMap                        # of every step; a file may say it once for all its cases
 *         steps:
 *           - apply: { data: { k: '1' } }        # one verb: apply, create, update (PUT), merge, strategic, json, delete, get
 *             by: a                              # fieldManager; left out, none is sent
 *             managers: { a Apply: [.data.k] }
 *           - wait: 2s                           # the clock goes on
 *
 * What several steps say is written once and anchored, in the first of them or under `documents`.
 *
 * How a step is sent: apiVersion, kind and metadata.name are added to a document that has none; a text is sent as it
 * is. `force`, `at` (subresource), `version` (another one than the kind's first), `name` and `namespace` (in the URL),
 * `query`, `type` (content type) and `userAgent` say the rest.
 *
 * What it leads to; the object is the stored one, read afterwards:
 * - `object`: the part that matters. `~` stands for a field that is not there; lists are complete.
 * - `managers`: all of them, in order, each with its paths as messages print them. A label is `name operation`, then the
 *   version if it is not the kind's first, then the subresource. `...` stands for paths that do not matter.
 * - `times`: seconds since the case began, by manager; `~` for a manager without a time.
 * - `writes`: whether the step moved the resourceVersion.
 * - `conflicts`: the step is refused with these, each as `who path`.
 * - `fails`: the step is refused with such a Status. What is refused leaves the object as it was, always.
 * - `answer`: what came back, where that is not the object. `code`, `warnings`: the same for the rest of the answer.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { yamlBody } from '../../src/codec/yaml.js';
import { type Case, play } from './play.js';

interface Table {
  readonly kind?: string;
  readonly cases: readonly (Omit<Case, 'kind'> & Partial<Pick<Case, 'kind'>>)[];
}

const folder = new URL('./', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

function readTable(file: string): readonly Case[] {
  const body = yamlBody(readFileSync(new URL(file, folder), 'utf8'));
  // A key that is written twice hides an expectation.
  expect(body.repeatedKeys(), file).toEqual([]);
  const { kind = '', cases } = body.read().value as Table;
  return cases.map((each) => ({ kind, ...each }));
}

describe.each(files)('%s', (file) => {
  for (const each of readTable(file)) {
    test(each.name, async () => {
      expect(each.steps.length).toBeGreaterThan(0);
      await play(each);
    });
  }
});
