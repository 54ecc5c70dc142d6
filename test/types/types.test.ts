/**
 * The compiler's messages for mistakes of a user. The `*.test-d.ts` files check that mistakes do not compile; this
 * test checks the text: it names the user's types and fields and no internal types.
 *
 * To add a case, add a row to `cases`. All rows are compiled in one program.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';

interface Case {
  readonly name: string;
  /** A user's module; imports resolve from this folder. */
  readonly code: string;
  /** What the first error must contain. */
  readonly expect: RegExp;
}

const CLUSTER = `import { createCluster, type ObjectOf } from 'orchplane';
export type LeaseObject = ObjectOf<typeof Lease>;
import { ConfigMap, Lease, Namespace, Pod } from 'orchplane/kinds';
const cluster = createCluster();
void [ConfigMap, Lease, Namespace, Pod];`;

/** A kind whose types have names, as docs/guide/08-your-own-kinds.md describes. */
const WIDGET = `import { createCluster, type DraftOf, defineKind, type InputOf, type Kind, type ObjectOf, status } from 'orchplane';
import * as z from 'zod';
const definition = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: {
    spec: z.object({ size: z.enum(['s', 'm', 'l']).default('m'), parts: z.array(z.string()).default([]) }),
    status: z.object({ ready: z.boolean() }).optional(),
  },
  subresources: { status },
});
interface Widget extends ObjectOf<typeof definition> {}
interface WidgetInput extends InputOf<typeof definition> {}
interface WidgetDraft extends DraftOf<typeof definition> {}
const Widget: Kind<Widget, WidgetInput, 'Namespaced', 'status', WidgetDraft> = definition;
const unnamed = createCluster().api(definition);
const widgets = createCluster().api(Widget);
void [unnamed, widgets];`;

const cases: readonly Case[] = [
  {
    name: 'lists the known reasons for a misspelled reason',
    code: `import { StatusError } from '../../src/meta/errors.js'; StatusError.is(undefined, 'NotFond');`,
    expect: /'"NotFond"' is not assignable to parameter of type .*"Forbidden" \| "NotFound"/,
  },
  {
    name: 'names the type without the field for a misspelled field',
    code: `import { errors } from '../../src/meta/errors.js'; errors.notFound({ group: '', resourse: 'pods' }, 'web');`,
    expect: /'resourse' does not exist in type 'GroupResource'/,
  },
  {
    name: 'names the input type of the kind for a misspelled field of an object',
    code: `${CLUSTER} cluster.api(ConfigMap).create({ metadata: { name: 'a' }, dta: {} });`,
    expect: /'dta' does not exist in type 'DeepReadonly<ConfigMapInput>'/,
  },
  {
    name: 'names the struct without the field for a misspelled field below spec',
    code: `${CLUSTER} cluster.api(Lease).create({ metadata: { name: 'a' }, spec: { holderIdentitee: 'me' } });`,
    expect: /'holderIdentitee' does not exist in type 'DeepReadonly<LeaseSpecInput>'/,
  },
  {
    name: 'names both types for a value of the wrong type',
    code: `${CLUSTER} cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { size: 1 } });`,
    expect: /Type 'number' is not assignable to type 'string'/,
  },
  {
    name: 'reports a surplus argument for a namespace of a cluster-scoped kind',
    code: `${CLUSTER} cluster.api(Namespace, 'default');`,
    expect: /Expected 1 arguments, but got 2/,
  },
  {
    name: 'reports that all() has no method to read one object',
    code: `${CLUSTER} cluster.all(ConfigMap).get('a');`,
    expect: /Property 'get' does not exist on type 'Collection<ConfigMapKind<ConfigMap>>'/,
  },
  {
    name: 'lists the subresources of the kind for an unknown subresource',
    code: `${CLUSTER} cluster.api(Namespace).subresource('scale');`,
    expect: /'"scale"' is not assignable to parameter of type '"status" \| "finalize"'/,
  },
  {
    name: 'reports an assignment to a returned object',
    code: `${CLUSTER} (await cluster.api(Lease).get('a')).spec.holderIdentity = 'me';`,
    expect: /Cannot assign to 'holderIdentity' because it is a read-only property/,
  },
  {
    name: 'names the type of a returned object for a misspelled field',
    code: `${CLUSTER} (await cluster.api(Lease).get('a')).spek;`,
    expect: /Property 'spek' does not exist on type 'DeepReadonly<Lease>'/,
  },
  {
    name: 'names the type of a part of a returned object',
    code: `${CLUSTER} (await cluster.api(Lease).get('a')).spec.holder;`,
    expect: /Property 'holder' does not exist on type 'DeepReadonly<LeaseSpec>'/,
  },
  {
    name: 'shows an optional string as it is declared',
    code: `${CLUSTER} export const holder: number = (await cluster.api(Lease).get('a')).spec.holderIdentity;`,
    expect: /^Type 'string \| undefined' is not assignable to type 'number'/,
  },
  {
    name: 'names the type of an optional part',
    code: `${CLUSTER} export const affinity: string = (await cluster.api(Pod).get('a')).spec.affinity;`,
    expect: /^Type 'DeepReadonly<Affinity> \| undefined' is not assignable to type 'string'/,
  },
  {
    name: 'names both kinds for an object of another kind',
    code: `${CLUSTER} export const lease: ObjectOf<typeof Lease> = await cluster.api(Pod).get('a');`,
    expect: /^Type 'DeepReadonly<Pod>' is not assignable to type 'DeepReadonly<Lease>'/,
  },
  {
    name: 'names the input type of a part that is assigned to a draft',
    code: `${CLUSTER} cluster.api(Pod).edit('a', (draft) => { draft.spec.containers = [{ nme: 'a' }]; });`,
    expect: /'nme' does not exist in type 'ContainerInput'/,
  },
  {
    name: 'asks for the namespace of no cluster-scoped object',
    code: `${CLUSTER} export const at: string = (await cluster.api(Namespace).get('a')).metadata.namespace;`,
    expect: /^Type 'undefined' is not assignable to type 'string'/,
  },
  {
    name: 'names the types of a user-defined kind: the object',
    code: `${WIDGET} (await widgets.get('a')).spek;`,
    expect: /Property 'spek' does not exist on type 'DeepReadonly<Widget>'/,
  },
  {
    name: 'names the types of a user-defined kind: the input',
    code: `${WIDGET} widgets.create({ metadata: { name: 'a' }, spek: {} });`,
    expect: /'spek' does not exist in type 'DeepReadonly<WidgetInput>'/,
  },
  {
    name: 'names the types of a user-defined kind: the draft',
    code: `${WIDGET} widgets.edit('a', (draft) => { draft.spec = { size: 's' }; draft.spek; });`,
    expect: /^Property 'spek' does not exist on type 'WidgetDraft'/,
  },
  {
    name: 'names the types of a user-defined kind: the API',
    code: `${WIDGET} widgets.gett('a');`,
    expect: /on type 'Api<Kind<Widget, WidgetInput, "Namespaced", "status", WidgetDraft>>'/,
  },
  {
    name: 'shows no zod types for a user-defined kind without named types',
    code: `${WIDGET} unnamed.gett('a');`,
    expect: /on type 'Api<Kind<NamespacedObject<"Widget"> & /,
  },
];

/** The types of expressions as messages and editors show them. */
const SHOWN: Readonly<Record<string, string>> = {
  "await cluster.api(Pod).get('a')": 'DeepReadonly<Pod>',
  "await cluster.api(Pod).find('a')": 'DeepReadonly<Pod> | undefined',
  "await cluster.api(Pod).delete('a')": 'DeepReadonly<Pod> | Status',
  '(await cluster.api(Pod).list()).items': 'readonly DeepReadonly<Pod>[]',
  "(await cluster.api(Pod).get('a')).spec": 'DeepReadonly<PodSpec>',
  "(await cluster.api(Pod).get('a')).spec.nodeName": 'string | undefined',
  "(await cluster.api(Pod).get('a')).spec.containers": 'readonly DeepReadonly<Container>[]',
  "(await cluster.api(Pod).get('a')).spec.affinity": 'DeepReadonly<Affinity> | undefined',
  "(await cluster.api(Pod).get('a')).metadata.namespace": 'string',
};
const shownTypes: readonly Case[] = Object.entries(SHOWN).map(([expression, type]) => ({
  name: `shows the type of ${expression}`,
  code: `${CLUSTER} export const shown: never = ${expression};`,
  expect: new RegExp(`^Type '${type.replace(/[|[\]]/g, '\\$&')}' is not assignable to type 'never'`),
}));

/** Names of internal types that a user cannot act on. */
const INTERNAL_NAMES =
  /\$?Zod[A-Z]\w*|\bz\.(core|output|input|infer)\b|\$strip|DeepReadonly<(\{|string|number|boolean|undefined|[^>]*\| undefined>)/;

/** About a screenful; a type that is printed member by member is much longer. */
const LONGEST_MESSAGE = 600;

describe('compiler messages', () => {
  let messages: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    messages = compile([...cases, ...shownTypes]);
  }, 120_000);

  for (const { name, expect: expected } of [...cases, ...shownTypes]) {
    test(name, () => {
      const [message = '(it compiles)'] = messages.get(name) ?? [];
      expect(message).toMatch(expected);
      expect(message).not.toMatch(INTERNAL_NAMES);
      expect(message.length).toBeLessThan(LONGEST_MESSAGE);
    });
  }
});

/** The errors of each case by name, as `tsc` prints them with the settings of this repository. */
function compile(list: readonly Case[]): Map<string, string[]> {
  const fileOf = new Map(list.map((each, index) => [join(root, 'test/types', `case-${index}.ts`), each]));
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => fileOf.has(file) || fileExists.call(host, file);
  host.readFile = (file) => fileOf.get(file)?.code ?? readFile.call(host, file);
  host.getSourceFile = (file, target, ...rest) => {
    const virtual = fileOf.get(file);
    return virtual ? ts.createSourceFile(file, virtual.code, target) : getSourceFile.call(host, file, target, ...rest);
  };
  const program = ts.createProgram([...fileOf.keys()], options, host);
  return new Map(
    [...fileOf].map(([file, { name }]) => {
      const source = program.getSourceFile(file);
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return [name, found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
    }),
  );
}
