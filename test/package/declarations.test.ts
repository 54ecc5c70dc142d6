/**
 * The cost of the built declarations in a user's program: the files that the compiler reads and the types that it
 * instantiates. Both are the same on every machine, unlike the time, and the time follows them.
 *
 * When a ceiling is exceeded, `tsc --generateTrace` shows the declarations that take long.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { requireBuild, root } from './manifest.js';

/** A test of a controller for built-in kinds. */
const BUILT_IN_KINDS = `
import { createCluster, mergePatch } from 'orchplane';
import { defineController, runControllers } from 'orchplane/controllers';
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { ensure, testCluster } from 'orchplane/testing';

export const controller = defineController({
  name: 'settings',
  kind: ConfigMap,
  owns: [Deployment, Pod],
  async reconcile({ metadata }, { client, owned }) {
    const deployments = client.api(Deployment, metadata.namespace);
    const [deployment] = owned(Deployment);
    if (deployment === undefined) {
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      await deployments.create({
        metadata: { name: metadata.name },
        spec: { selector: { matchLabels: { a: 'b' } }, template },
      });
      return;
    }
    await deployments.edit(deployment.metadata.name, (draft) => {
      draft.spec.replicas += 1;
    });
  },
});
const cluster = createCluster();
const made = await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: {} });
await cluster.api(Pod).patch('web', mergePatch({ metadata: { labels: { a: 'b' } } }));
const pod = await cluster.api(Pod).get('web');
await cluster.api(Pod).update({ ...pod, spec: { ...pod.spec, nodeName: 'a' } });
export const names = [made.metadata.name, ...(await cluster.api(Deployment).list()).items.map((d) => d.metadata.name)];
export { ensure, runControllers, testCluster };
`;

/** The same with a kind of the user's own, which loads zod's declarations. */
const OWN_KIND = `${BUILT_IN_KINDS}
import { defineKind, status } from 'orchplane';
import * as z from 'zod';

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: {
    spec: z.object({ size: z.enum(['s', 'm', 'l']).default('m'), replicas: z.number().int().default(1) }),
    status: z.object({ ready: z.number() }).optional(),
  },
  subresources: { status },
});
export const widget = await cluster.api(Widget).create({ metadata: { name: 'w' }, spec: {} });
await cluster.api(Widget).status.edit('w', (draft) => {
  draft.status = { ready: draft.spec.replicas };
});
`;

describe('the built declarations', { timeout: 120_000 }, () => {
  beforeAll(requireBuild);

  test('take few files and types, and not zod, in a program with built-in kinds', () => {
    const { errors, files, instantiations } = check(BUILT_IN_KINDS, { skipLibCheck: true });
    expect(errors).toEqual([]);
    expect(files.filter(isOfZod)).toEqual([]);
    expect(files.length).toBeLessThan(205);
    expect(instantiations).toBeLessThan(6_000);
  });

  test('take few types besides those of zod in a program with a kind of its own', () => {
    const { errors, files, instantiations } = check(OWN_KIND, { skipLibCheck: true });
    expect(errors).toEqual([]);
    expect(files.length).toBeLessThan(350);
    expect(instantiations).toBeLessThan(10_000);
  });

  test('have no errors and take few types where a program checks all declarations', () => {
    const { errors, instantiations } = check(BUILT_IN_KINDS, { skipLibCheck: false });
    expect(errors).toEqual([]);
    // About 45,000 are those of the DOM and of Node.
    expect(instantiations).toBeLessThan(60_000);
  });
});

function isOfZod(file: string): boolean {
  return file.includes('/node_modules/zod/');
}

/** Type-checks a module of a user against the built declarations. */
function check(code: string, settings: ts.CompilerOptions) {
  const file = join(root, 'test/package/user.ts');
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    types: ['node'],
    ...settings,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => path === file || fileExists.call(host, path);
  host.readFile = (path) => (path === file ? code : readFile.call(host, path));
  host.getSourceFile = (path, target, ...rest) =>
    path === file ? ts.createSourceFile(path, code, target) : getSourceFile.call(host, path, target, ...rest);
  const program = ts.createProgram([file], options, host);
  const errors = ts.getPreEmitDiagnostics(program).map(({ file: where, messageText }) => {
    return `${where?.fileName.slice(root.length)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  const files = program.getSourceFiles().map(({ fileName }) => fileName);
  return { errors, files, instantiations: program.getInstantiationCount() };
}
