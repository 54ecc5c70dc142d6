/**
 * Types from CRDs: the generated module is compiled and evaluated, and `toCRD` of its kinds must return the CRDs again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { yamlDocumentBody } from '../../../src/codec/yaml.js';
import { type CrdManifest, crdDifferences } from '../../../src/crd/compare.js';
import * as orchplane from '../../../src/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { readDocuments } from '../../../src/manifests/read.js';
import { kubernetesDialect as dialect } from '../../../src/meta/dialect.js';
import { getOrInsertComputed } from '../../../src/util/once.js';
import { generateTypes } from '../../../src/zod/generate-types.js';

const folder = new URL('../../fixtures/crds/', import.meta.url);
const projects = readdirSync(folder).filter((file) => file.endsWith('.yaml') && !file.endsWith('.samples.yaml'));

function crdsIn(text: string): CrdManifest[] {
  return readDocuments({ text }).map((document) => {
    if (document instanceof Error) throw document;
    return document.value as CrdManifest;
  });
}

/** Evaluates a generated module. */
function kindsOf(text: string): Readonly<Record<string, Kind>> {
  const { outputText } = ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
  const modules: Readonly<Record<string, unknown>> = { orchplane, zod: z };
  const exported: Record<string, Kind> = {};
  new Function('require', 'exports', outputText)((name: string) => modules[name], exported);
  return exported;
}

function definitionOf(kinds: Readonly<Record<string, Kind>>, { spec }: CrdManifest) {
  const versions = Object.values(kinds).filter((kind) => kind.kind === spec.names.kind && kind.group === spec.group);
  return orchplane.toCRD(versions as [Kind, ...Kind[]]);
}

describe('generateTypes', () => {
  test.each(projects)('writes kinds that stand for the CRDs of %s', (file) => {
    const crds = crdsIn(readFileSync(new URL(file, folder), 'utf8'));
    const kinds = kindsOf(generateTypes(crds));
    for (const crd of crds) {
      const made = definitionOf(kinds, crd);
      expect(made.spec.versions.map(({ name }) => name).sort()).toEqual(
        crd.spec.versions.map(({ name }) => name).sort(),
      );
      expect(crdDifferences(crd, made, { dialect, withDocumentation: true })).toEqual([]);
    }
  });

  test.each(projects)('writes kinds that accept and reject the samples of %s in a cluster', async (file) => {
    const crds = crdsIn(readFileSync(new URL(file, folder), 'utf8'));
    const { good, broken } = samplesOf(file);
    const kinds = Object.values(kindsOf(generateTypes(crds)));
    const kindOf = ({ apiVersion, kind }: Sample) => {
      const found = kinds.find((each) => each.kind === kind && `${each.group}/${each.version}` === apiVersion);
      if (found === undefined) throw new Error(`no kind ${kind} in ${apiVersion}`);
      return found;
    };
    // A cluster serves one version of a kind that is installed.
    const apis = new Map<Kind, orchplane.Api<Kind>>();
    const apiOf = (sample: Sample) =>
      getOrInsertComputed(apis, kindOf(sample), (kind) => {
        const cluster = createCluster({ dialect: 'kubernetes' });
        onTestFinished(() => cluster.close());
        cluster.install(kind);
        return cluster.api(kind);
      });
    for (const sample of good) await apiOf(sample).create(sample);
    for (const { of = 0, set = {}, unset = [], refused = [] } of broken) {
      const object = structuredClone(good[of]) as Sample;
      for (const path of unset) change(object, stepsOf(path), undefined);
      for (const [path, value] of Object.entries(set)) change(object, stepsOf(path), value);
      object.metadata = { ...object.metadata, name: 'broken' };
      const fields = await refusedFields(apiOf(object).create(object));
      // Zod reports its errors before those of keywords, and may name the parent of a field.
      expect(fields, refused.join(', ')).not.toEqual([]);
    }
  });
});

interface Sample {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

interface Samples {
  readonly good: readonly Sample[];
  readonly broken: readonly {
    readonly of?: number;
    readonly set?: Readonly<Record<string, unknown>>;
    readonly unset?: readonly string[];
    readonly refused?: readonly string[];
  }[];
}

function samplesOf(file: string): Samples {
  const text = readFileSync(new URL(file.replace(/\.yaml$/, '.samples.yaml'), folder), 'utf8');
  return yamlDocumentBody(text).read().value as Samples;
}

const stepsOf = (path: string) => path.match(/[^.[\]]+/g) ?? [];

/** Sets a value at a path, creating objects on the way; undefined deletes it. */
function change(holder: object, [step = '', ...rest]: readonly string[], value: unknown): void {
  const target = holder as Record<string, unknown>;
  if (rest.length === 0 && value === undefined) delete target[step];
  else if (rest.length === 0) target[step] = value;
  else {
    target[step] ??= {};
    change(target[step] as object, rest, value);
  }
}

async function refusedFields(write: Promise<unknown>): Promise<string[]> {
  try {
    await write;
    return [];
  } catch (error) {
    if (!orchplane.StatusError.is(error, 'Invalid')) throw error;
    return (error.status.details?.causes ?? []).map(({ field = '' }) => field);
  }
}
