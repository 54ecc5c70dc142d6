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

const CLUSTER = `import { createCluster } from 'orchplane';
import { ConfigMap, Lease, Namespace } from 'orchplane/kinds';
const cluster = createCluster();
void [ConfigMap, Lease, Namespace];`;

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
    expect: /Property 'get' does not exist on type 'Collection<Kind<ConfigMap, ConfigMapInput, "Namespaced", never, ConfigMap>>'/,
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
];

/** Names of internal types that a user cannot act on. */
const INTERNAL_NAMES = /\$?Zod[A-Z]\w*|\bz\.(core|output|input|infer)\b|\$strip|DeepReadonly<\{/;

/** About a screenful; a type that is printed member by member is much longer. */
const LONGEST_MESSAGE = 600;

describe('compiler messages', () => {
  let messages: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    messages = compile(cases);
  }, 120_000);

  for (const { name, expect: expected } of cases) {
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
