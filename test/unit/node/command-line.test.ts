/** Parsing of the command line. */
import { describe, expect, test } from 'vitest';
import { parseCommandLine, UsageError } from '../../../src/node/command-line.js';

const settingsOf = (...args: string[]) => {
  const command = parseCommandLine(['serve', ...args]);
  return command.type === 'serve' ? command.settings : undefined;
};

describe('parseCommandLine', () => {
  test('defaults to HTTPS, the kubernetes dialect and any free port', () => {
    expect(settingsOf()).toEqual({
      port: 0,
      host: undefined,
      dialect: 'kubernetes',
      data: undefined,
      manifests: [],
      kubeconfig: undefined,
      tls: true,
      token: undefined,
      anonymous: false,
      log: false,
      featureGates: {},
      runtimeConfig: undefined,
      controllers: 'none',
    });
  });

  test('reads every option', () => {
    const args =
      '--port 8080 --host ::1 --dialect orch --data d --apply a --apply b --kubeconfig k --no-tls --token t --log --controllers ready --feature-gates A=true,B=False --runtime-config api/all=true --runtime-config v1=false c';
    expect(settingsOf(...args.split(' '))).toEqual({
      port: 8080,
      host: '::1',
      dialect: 'orch',
      data: 'd',
      manifests: ['a', 'b', 'c'],
      kubeconfig: 'k',
      tls: false,
      token: 't',
      anonymous: false,
      log: true,
      featureGates: { A: true, B: false },
      runtimeConfig: 'api/all=true,v1=false',
      controllers: 'ready',
    });
    expect(settingsOf('--anonymous', '--tls')).toMatchObject({ anonymous: true, tls: true });
  });

  test('gives --help and --version precedence over everything else', () => {
    expect(parseCommandLine(['serve', '--help'])).toEqual({ type: 'help' });
    expect(parseCommandLine(['-v'])).toEqual({ type: 'version' });
  });

  test.each([
    ['', 'a command is missing'],
    ['start', 'unknown command "start"'],
    ['serve --port x', '--port takes a number from 0 to 65535, got "x"'],
    ['serve --port 65536', 'got "65536"'],
    ['serve --port=-1', 'got "-1"'],
    ['serve --dialect klingon', '--dialect takes kubernetes or orch, got "klingon"'],
    ['serve --colour', `Unknown option '--colour'; see "orchplane --help"`],
    ['serve --log=yes', '--log'],
    ['serve --data', '--data'],
    ['serve a.yaml', 'manifests are given with --apply'],
    ['serve --data d a.yaml', 'manifests are given with --apply'],
    ['serve --data d --data e', '--data takes one folder'],
    ['serve --data -', '--data takes a folder'],
    ['serve --tls --no-tls', 'contradict'],
    ['serve --token t --anonymous', 'contradict'],
    ['serve --token=', '--token takes printable characters'],
    ['serve --feature-gates A', '--feature-gates takes NAME=true or NAME=false, got "A"'],
  ])('rejects "%s" with a one-line message', (line, problem) => {
    const args = line.split(' ').filter((arg) => arg !== '');
    expect(() => parseCommandLine(args)).toThrow(UsageError);
    expect(() => parseCommandLine(args)).toThrow(problem);
    expect(() => parseCommandLine(args)).not.toThrow('\n');
  });
});
