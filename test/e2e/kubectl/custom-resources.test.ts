/**
 * Custom resources with kubectl: CRDs in YAML, their objects, and discovery and OpenAPI. CRDs are cluster-scoped, so
 * every test has its own kinds.
 */
import { expect } from 'vitest';
import { kubectlTests, rowsOf, type Session } from './session.js';

kubectlTests('custom resources', (test) => {
  test('serves a kind as soon as its CRD exists, and until it is deleted', async (session) => {
    const { run, refused } = session;
    const { plural, kind, group, short, category, crd } = namesIn(session);
    // kubectl caches discovery from now on.
    await run('get pods');
    expect(await run('apply -f -', { input: definition(session) })).toBe(
      `customresourcedefinition.apiextensions.k8s.io/${crd} created\n`,
    );
    expect(await run(`wait --for=condition=Established --timeout=10s crd/${crd}`)).toContain('condition met');
    expect(await run(`get ${short}`)).toBe('');
    expect(await run('create -f -', { input: widget(session, 'one') })).toBe(
      `${kind.toLowerCase()}.${group}/one created\n`,
    );
    for (const name of [plural, kind.toLowerCase(), kind, short, `${plural}.${group}`, `${plural}.v1.${group}`]) {
      expect(await run(`get ${name} one -o name`)).toBe(`${kind.toLowerCase()}.${group}/one\n`);
    }
    expect(await run(`get ${category} -o name`)).toContain(`${kind.toLowerCase()}.${group}/one\n`);
    expect(rowsOf(await run(`api-resources --api-group=${group} -o wide`))).toEqual([
      {
        NAME: plural,
        SHORTNAMES: short,
        APIVERSION: `${group}/v1`,
        NAMESPACED: 'true',
        KIND: kind,
        VERBS: 'delete,deletecollection,get,list,patch,create,update,watch',
        CATEGORIES: category,
      },
    ]);
    expect(rowsOf(await run(`get crd ${crd}`))).toMatchObject([{ NAME: crd }]);
    expect(await run(`describe crd ${crd}`)).toMatch(/\nStatus:\n {2}Accepted Names:\n/);

    expect(await run(`delete crd ${crd}`)).toContain(`"${crd}" deleted`);
    expect(await refused(`get ${plural}`)).toMatch(
      /doesn't have a resource type|could not find the requested resource/,
    );
    // A kubectl with the kind in its cache still requests it.
    expect(await refused('create -f -', { input: widget(session, 'late') })).toMatch(
      /ensure CRDs are installed first|could not find the requested resource/,
    );
  });

  test('prints the columns of the CRD', async (session) => {
    const { run } = session;
    const { plural } = await defined(session);
    await run('create -f -', { input: widget(session, 'one') });
    await run('create -f -', { input: widget(session, 'two', 'colour: green') });
    expect(rowsOf(await run(`get ${plural}`))).toEqual([
      { NAME: 'one', COLOUR: 'red', REPLICAS: '1' },
      { NAME: 'two', COLOUR: 'green', REPLICAS: '1' },
    ]);
    const wide = rowsOf(await run(`get ${plural} -o wide --sort-by=.spec.colour`));
    expect(wide.map(({ NAME, SIZE }) => [NAME, SIZE])).toEqual([
      ['two', 'm'],
      ['one', 'm'],
    ]);
    expect(await run(`get ${plural} -o custom-columns=C:.spec.colour --no-headers`)).toBe('red\ngreen\n');
    expect(await run(`get ${plural} --field-selector=spec.colour=green -o name`)).toMatch(/\/two\n$/);
    expect(await run(`describe ${plural} one`)).toMatch(/\nSpec:\n {2}Colour: +red\n/);
  });

  test('explains a kind with the descriptions of its CRD', async (session) => {
    const { run, refused, minor } = session;
    const { plural, kind, group } = await defined(session);
    const whole = await run(`explain ${plural}`);
    expect(whole).toMatch(new RegExp(`^GROUP: +${group}\nKIND: +${kind}\nVERSION: +v1\n`));
    expect(whole).toContain('Something to turn.');
    expect(whole).toMatch(/\n {2}metadata\t<ObjectMeta>\n/);
    expect(await run(`explain ${plural}.metadata.labels`)).toMatch(/FIELD: labels <map\[string\]string>/);
    const spec = await run(`explain ${plural}.spec`);
    expect(spec).toContain('What is wished for.');
    expect(spec).toMatch(/\n {2}colour\t<string>.*\n(.*\n)* {4}Its colour\.\n/);
    expect(spec).toMatch(/\n {2}parts\t<\[\]Object>\n {4}What it is made of\.\n/);
    const deep = await run(`explain ${plural}.spec --recursive`);
    expect(deep).toMatch(/\n {2}parts\t<\[\]Object>\n {4}name\t<string> -required-\n {4}port\t<Object>?/);
    // kubectl prints enums since 1.30.
    if (minor >= 30) expect(spec).toMatch(/\n {2}colour\t<string>\n {2}enum: red, green\n/);
    expect(await run(`explain ${plural}.spec.colour --api-version=${group}/v1`)).toMatch(/FIELD: colour <string>/);
    expect(await refused(`explain ${plural}.spec.nothing`)).toContain('field "nothing" does not exist');

    const older = await run(`explain ${plural}.spec --recursive --output=plaintext-openapiv2`);
    expect(older).toContain('What is wished for.');
    expect(older).toMatch(/\n {3}parts\t<\[\]Object>\n {6}name\t<string>\n/);
    expect(older).toMatch(/\n {3}labels\t<map\[string\]string>\n/);

    // kubectl explains a changed CRD anew.
    await run('apply -f -', { input: definition(session).replace('Its colour.', 'As it is painted.') });
    expect(await run(`explain ${plural}.spec.colour`)).toContain('As it is painted.');
  });

  test('applies custom resources client-side and server-side', async (session) => {
    const { run, refused } = session;
    const { plural, kind, group } = await defined(session);
    const resource = `${kind.toLowerCase()}.${group}`;
    const input = widget(session, 'one', 'labels: { a: b }');
    expect(await run('apply -f -', { input })).toBe(`${resource}/one created\n`);
    expect(await run('apply -f -', { input })).toBe(`${resource}/one unchanged\n`);
    const changed = widget(session, 'one', 'colour: green');
    expect(await run('apply -f -', { input: changed })).toBe(`${resource}/one configured\n`);
    // Fields that are no longer applied are removed.
    expect(JSON.parse(await run(`get ${plural} one -o json`)).spec).toEqual({
      colour: 'green',
      replicas: 1,
      size: 'm',
    });

    const parts = (...names: readonly string[]) =>
      `parts: [${names.map((name) => `{ name: ${name}, port: 80 }`).join(', ')}]`;
    const apply = (manager: string, ...names: readonly string[]) =>
      run(`apply --server-side --field-manager=${manager} -f -`, { input: widget(session, 'two', parts(...names)) });
    expect(await apply('first', 'a')).toBe(`${resource}/two serverside-applied\n`);
    await apply('second', 'b');
    await apply('first', 'a', 'c');
    const names = await run(`get ${plural} two -o jsonpath={.spec.parts[*].name}`);
    expect(names.split(' ').sort()).toEqual(['a', 'b', 'c']);
    const painted = (colour: string) => ({ input: widget(session, 'two', `colour: ${colour}`) });
    await run('apply --server-side --field-manager=painter -f -', painted('green'));
    expect(await refused('apply --server-side --field-manager=other -f -', painted('red'))).toContain(
      'conflict with "painter": .spec.colour',
    );
    await run('apply --server-side --field-manager=other --force-conflicts -f -', painted('red'));
    expect(await run(`get ${plural} two -o jsonpath={.spec.colour}`)).toBe('red');
    expect(await run('diff -f -', { input: widget(session, 'one', 'colour: green') })).toBe('');
  });

  test('scales a custom resource, and waits for the result', async (session) => {
    const { run, refused, start } = session;
    const { plural, kind, group } = await defined(session);
    await run('create -f -', { input: widget(session, 'one') });
    expect(await run(`scale ${plural} one --replicas=3`)).toBe(`${kind.toLowerCase()}.${group}/one scaled\n`);
    expect(await run(`get ${plural} one -o jsonpath={.spec.replicas}`)).toBe('3');
    expect(await refused(`scale ${plural} one --replicas=5 --current-replicas=1`)).toContain(
      'Expected replicas to be 1',
    );
    expect(await run(`get ${plural} one --subresource=scale -o jsonpath={.kind}:{.spec.replicas}`)).toBe('Scale:3');

    const waiting = start(`wait ${plural}/one --for=jsonpath={.status.replicas}=3 --timeout=12s`);
    const status = { replicas: 3, conditions: [{ type: 'Ready', status: 'True' }] };
    const patched = await run([
      'patch',
      plural,
      'one',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status, spec: { colour: 'green' } }),
    ]);
    expect(patched).toContain('patched');
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('condition met') });
    expect(await run(`wait ${plural}/one --for=condition=Ready --timeout=10s`)).toContain('condition met');
    // A status update changes only the status.
    expect(await run(`get ${plural} one -o jsonpath={.spec.colour}`)).toBe('red');
    expect(await run(`get ${plural} one --subresource=status -o jsonpath={.status.replicas}`)).toBe('3');
  });

  test('rejects objects that violate the CRD', async (session) => {
    const { run, refused, end } = session;
    const { plural, kind, group } = await defined(session);
    const wrong = widget(session, 'one', 'colour: blue, replicas: -1, parts: [{ port: 80 }]');
    const answer = await refused('create --validate=false -f -', { input: wrong });
    expect(answer).toContain(`The ${kind} "one" is invalid: `);
    for (const line of [
      '* spec.colour: Unsupported value: "blue": supported values: "red", "green"',
      '* spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
      '* spec.parts[0].name: Required value',
    ]) {
      expect(answer).toContain(line);
    }
    const unknown = widget(session, 'one', 'color: red');
    expect(await refused('create --validate=strict -f -', { input: unknown })).toMatch(
      /strict decoding error: unknown field "spec\.color"/,
    );
    const warned = await end('create --validate=warn -f -', { input: unknown });
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('unknown field "spec.color"') });
    expect(await run(`get ${plural} one -o jsonpath={.spec}`)).toBe('{"colour":"red","replicas":1,"size":"m"}');
    expect(await refused(`patch ${plural} one --type=merge -p {"spec":{"replicas":11}}`)).toContain('fewer than ten');
    expect(await refused('create -f -', { input: definition(session) })).toContain('AlreadyExists');
    const broken = definition(session)
      .replace('replicas: { type: integer', 'replicas: { type: whole')
      .replaceAll(group, `x.${group}`);
    expect(await refused('create -f -', { input: broken })).toContain('Unsupported value: "whole"');
  });

  test('patches and edits custom resources', async (session) => {
    const { run, refused } = session;
    const { plural } = await defined(session);
    await run('create -f -', { input: widget(session, 'one') });
    const json = JSON.stringify([
      { op: 'test', path: '/spec/colour', value: 'red' },
      { op: 'replace', path: '/spec/colour', value: 'green' },
      { op: 'add', path: '/spec/parts', value: [{ name: 'a', port: 'http' }] },
    ]);
    await run(['patch', plural, 'one', '--type=json', '-p', json]);
    expect(await refused(['patch', plural, 'one', '--type=json', '-p', json])).toContain('The request is invalid');
    await run(`edit ${plural} one`, { env: { KUBE_EDITOR: 'sed -i s/green/red/' } });
    expect(await run(`get ${plural} one -o jsonpath={.spec.colour}`)).toBe('red');
    await run(`label ${plural} one tier=front`);
    await run(`annotate ${plural} one note=here`);
    expect(await run(`get ${plural} -l tier=front -o jsonpath={.items[*].metadata.annotations.note}`)).toBe('here');
    expect(await refused(`patch ${plural} one -p {"spec":{"colour":"green"}}`)).toContain('is not supported by');
    await run(`delete ${plural} --all`);
    expect(await run(`get ${plural} -o name`)).toBe('');
  });

  test('serves every version of a kind', async (session) => {
    const { run } = session;
    const { plural, group } = namesIn(session);
    await run('create -f -', { input: definition(session, { versions: ['v1', 'v2'] }) });
    await run('create -f -', { input: widget(session, 'one') });
    expect(await run(`get ${plural} one -o jsonpath={.apiVersion}`)).toBe(`${group}/v2`);
    expect(await run(`get ${plural}.v1.${group} one -o jsonpath={.apiVersion}`)).toBe(`${group}/v1`);
    expect(await run(`explain ${plural}`)).toMatch(/\nVERSION: +v2\n/);
    expect(await run(`explain ${plural} --api-version=${group}/v1`)).toMatch(/\nVERSION: +v1\n/);
    expect((await run('api-versions')).split('\n')).toEqual(expect.arrayContaining([`${group}/v1`, `${group}/v2`]));
  });
});

interface Names {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly short: string;
  readonly category: string;
  readonly crd: string;
}

/** Names that are unique to this test. */
function namesIn({ namespace }: Session): Names {
  const id = namespace.replace('test', '').replaceAll('-', 'x');
  const group = `${namespace}.example.com`;
  return {
    group,
    plural: `widgets${id}`,
    kind: `Widget${id}`,
    short: `wd${id}`,
    category: `gadgetry${id}`,
    crd: `widgets${id}.${group}`,
  };
}

/** Creates the CRD of this test. */
async function defined(session: Session): Promise<Names> {
  await session.run('create -f -', { input: definition(session) });
  return namesIn(session);
}

function definition(session: Session, { versions = ['v1'] }: { readonly versions?: readonly string[] } = {}): string {
  const { group, plural, kind, short, category, crd } = namesIn(session);
  return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${crd} }
spec:
  group: ${group}
  scope: Namespaced
  names: { plural: ${plural}, singular: ${kind.toLowerCase()}, kind: ${kind}, shortNames: [${short}], categories: [${category}] }
  versions:${versions.map((name, index) => versionText(name, index === 0)).join('')}
`;
}

function versionText(name: string, storage: boolean): string {
  return `
  - name: ${name}
    served: true
    storage: ${storage}
    subresources:
      status: {}
      scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
    selectableFields: [{ jsonPath: .spec.colour }]
    additionalPrinterColumns:
    - { name: Colour, type: string, jsonPath: .spec.colour }
    - { name: Replicas, type: integer, jsonPath: .spec.replicas }
    - { name: Size, type: string, jsonPath: .spec.size, priority: 1 }
    schema:
      openAPIV3Schema:
        type: object
        description: Something to turn.
        required: [spec]
        properties:
          spec:
            type: object
            description: What is wished for.
            x-kubernetes-validations: [{ rule: self.replicas < 10, message: fewer than ten }]
            properties:
              colour: { type: string, enum: [red, green], default: red, description: Its colour. }
              size: { type: string, default: m }
              replicas: { type: integer, minimum: 0, default: 1 }
              labels: { type: object, additionalProperties: { type: string } }
              parts:
                type: array
                description: What it is made of.
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: { type: string }
                    port: { x-kubernetes-int-or-string: true }
          status:
            type: object
            properties:
              replicas: { type: integer }
              conditions:
                type: array
                items: { type: object, properties: { type: { type: string }, status: { type: string } } }`;
}

function widget(session: Session, name: string, spec = ''): string {
  const { group, kind } = namesIn(session);
  return `
apiVersion: ${group}/v1
kind: ${kind}
metadata: { name: ${name} }
spec: { ${spec} }
`;
}
