/**
 * Types from CRDs: the generated module is compiled and evaluated, and `toCRD` of its kinds must return the CRDs again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type CrdManifest, crdDifferences } from '../../../src/crd/compare.js';
import * as orchplane from '../../../src/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { readDocuments } from '../../../src/manifests/read.js';
import { kubernetesDialect as dialect } from '../../../src/meta/dialect.js';
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
});
