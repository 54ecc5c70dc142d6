/** The table of commands: dispatch, help and errors. */
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../../src/node/commands/index.js';
import { run } from './run.js';

describe('the command line', () => {
  test('prints the version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    expect(await run('-v')).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  test('lists all commands on a screen of 24 lines and 80 columns', async () => {
    const { code, out } = await run('--help');
    const lines = out.split('\n');
    expect(code).toBe(0);
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(await run('help')).toEqual({ code: 0, out, err: '' });
  });

  test.each(Object.keys(COMMANDS))('prints the help of %s with its options, at most 80 columns wide', async (name) => {
    const { code, out, err } = await run([name, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: orchplane ${name}`));
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const definition = (await COMMANDS[name]?.load())?.command;
    for (const option of Object.keys(definition?.options ?? {})) expect(out).toContain(`--${option}`);
    expect(await run(['help', name])).toEqual({ code: 0, out, err: '' });
  });

  test.each([
    ['', 'a command is missing; use "orchplane serve", or see "orchplane --help"'],
    ['start', 'unknown command "start"; see "orchplane --help"'],
    ['toString', 'unknown command "toString"; see "orchplane --help"'],
    ['--colour serve', 'the option --colour comes before the command; see "orchplane --help"'],
    ['serve --colour', `Unknown option '--colour'; see "orchplane serve --help"`],
    ['serve --dialect klingon', '--dialect takes kubernetes or orch, got "klingon"'],
    ['serve --controllers all', '--controllers takes none, standard or ready, got "all"'],
    ['serve --log=yes', `Option '--log' does not take an argument; see "orchplane serve --help"`],
    ['envtest', 'envtest takes one folder'],
    ['envtest a b', 'envtest takes one folder'],
    ['snapshot --data d', 'snapshot needs --output, the file to write'],
    ['snapshot -o f', 'no cluster is named; use --kubeconfig FILE, set KUBECONFIG, or use --data DIR'],
    ['snapshot -o f --data d --kubeconfig k', '--data and --kubeconfig contradict each other'],
    ['snapshot -o f --data d --port 1', `Unknown option '--port'`],
    ['snapshot -o f --data d --dialect orch', '--data and --dialect contradict each other'],
    ['snapshot -o nowhere/f --data d', 'nowhere/f: there is no folder nowhere'],
    ['snapshot -o src --data d', 'src is no regular file; it is left as it is'],
    ['snapshot -o f --data d g', 'unexpected "g"'],
    ['snapshot -o f --data nowhere', '--data nowhere is not the folder of a cluster'],
    ['serve --feature-gates Nonsense=true', 'unrecognized feature gate: Nonsense\n'],
    ['serve --feature-gates JobManaged=true', 'unrecognized feature gate: JobManaged; similar names: JobManagedBy\n'],
    ['get pods --kubeconfig package.json', 'package.json is not a kubeconfig: it has no list of contexts\n'],
    ['import -o f --namespaces shop,', '--namespaces takes names, separated by commas; one is empty in "shop,"'],
  ])('rejects "%s" with one line and exit code 2', async (line, problem) => {
    const { code, out, err } = await run(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^orchplane: [^\n]+\n$/);
    expect(err).toContain(problem);
  });
});
