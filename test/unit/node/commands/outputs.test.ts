/** The files that commands write: none of them is also read, and `-` is no file. */
import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { serve } from 'orchplane/node';
import { describe, expect, test } from 'vitest';
import { replaceFile } from '../../../../src/etcd/replaceable-file.js';
import { RECORDING_HEADER } from '../../../../src/http/recording.js';
import { temporaryFolder } from './clusters.js';
import { run } from './run.js';

/** A folder with the kubeconfig of a served cluster, and other names of that file. */
async function kubeconfigs(): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = temporaryFolder();
  const file = join(folder, 'kubeconfig');
  await using cluster = createCluster({ dialect: 'kubernetes' });
  await using _server = await serve(cluster, { token: 'secret', kubeconfig: file });
  symlinkSync(file, join(folder, 'link'));
  linkSync(file, join(folder, 'hard'));
  symlinkSync(folder, join(folder, 'here'));
  return { folder, file };
}

describe('outputs', () => {
  test.each(['kubeconfig', 'link', 'hard', 'here/kubeconfig', './here/here/kubeconfig'])(
    'are refused if they are inputs: %s',
    async (name) => {
      const { folder, file } = await kubeconfigs();
      const [before, names] = [readFileSync(file, 'utf8'), readdirSync(folder)];
      const same = `${folder}/${name}`;
      for (const [args, option, variables] of [
        [['record', '-o', same, '--kubeconfig', file], '--output', {}],
        [
          ['record', '-o', join(folder, 'r'), '--kubeconfig', file, '--client-kubeconfig', same],
          '--client-kubeconfig',
          {},
        ],
        [['import', '-o', same, '--kubeconfig', file], '--output', {}],
        [['import', '-o', same], '--output', { KUBECONFIG: file }],
        [['snapshot', '-o', same], '--output', { KUBECONFIG: file }],
        [['generate', 'types', file, '-o', same], '--output', {}],
        [['replay', file, '--serve', '--client-kubeconfig', same], '--client-kubeconfig', {}],
        [['serve', '--kubeconfig', same, '--apply', file], '--kubeconfig', {}],
        [['record', '-o', file, '--client-kubeconfig', same], '--output', {}],
      ] as const) {
        const { code, out, err } = await run(args, { variables });
        expect({ code, out }, args.join(' ')).toEqual({ code: 2, out: '' });
        expect(err).toMatch(/^orchplane: --[\w-]+ \S+ would overwrite the file of [^\n]+; name another file\n$/);
        expect(err.replace(/^orchplane: (--\S+).*\n$/, '$1'), args.join(' ')).toBe(option);
      }
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect(readdirSync(folder)).toEqual(names);
    },
  );

  test('may be the file of a variable that the command does not read', async () => {
    const folder = temporaryFolder();
    const [file, recording] = [join(folder, 'kubeconfig'), join(folder, 'r.jsonl')];
    writeFileSync(recording, RECORDING_HEADER);
    const { code } = await run(['replay', recording, '--serve', '--client-kubeconfig', file], {
      variables: { KUBECONFIG: file },
      stop: Promise.resolve(),
    });
    expect(code).toBe(0);
  });

  test.each([
    [['snapshot', '-o', '-'], '--output takes a file; - is none'],
    [['record', '-o', '-'], '--output takes a file; - is none'],
    [['record', '-o', 'r', '--client-kubeconfig', '-'], '--client-kubeconfig takes a file; - is none'],
    [['serve', '--kubeconfig', '-'], '--kubeconfig takes a file; - is none'],
    [['generate', 'types', 'a', '-o', '-', '--watch'], 'the option -o is missing, which names a module'],
  ])('are files: rejects %j', async (args, problem) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err: `orchplane: ${problem}\n` });
  });

  test('of import may be standard output', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    await using server = await serve(cluster, { token: 'secret' });
    await cluster.api(ConfigMap).create({ metadata: { name: 'kept' } });
    const { code, out, err } = await run(['import', '-o', '-', '--kubeconfig', server.kubeconfig]);
    expect(code).toBe(0);
    expect(out).toMatch(/^apiVersion: v1\nkind: List\nitems:\n[\s\S]*name: kept/);
    expect(err).toMatch(/^wrote \d+ objects to standard output\n$/);
  });

  test.skipIf(!existsSync('/proc/self'))('are named in errors, not their drafts', async () => {
    // No file can be created in this folder, even by root.
    const file = '/proc/self/x';
    await expect(replaceFile(file, undefined, (append) => append('a'))).rejects.toThrow(
      new Error(`${file} cannot be written: ENOENT: no such file or directory`),
    );
  });
});
