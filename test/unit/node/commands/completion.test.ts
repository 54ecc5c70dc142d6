/** `orchplane completion`. The script for bash is run; those for zsh and fish are parsed where the shells exist. */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../../src/node/commands/index.js';
import { run } from './run.js';

const hasShell = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

/** What bash offers after these words. */
async function offered(...words: string[]): Promise<string[]> {
  const { out } = await run('completion bash');
  const array = words.map((word) => `'${word}'`).join(' ');
  const script = `compopt() { :; }\n${out}\nCOMP_WORDS=(orchplane ${array}); COMP_CWORD=${words.length}; _orchplane; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('completion', () => {
  test.skipIf(!hasShell('bash'))('completes commands, options and values in bash', async () => {
    expect(await offered('s')).toEqual(['serve', 'snapshot']);
    expect(await offered('get', '--all')).toEqual(['--all-namespaces']);
    expect(await offered('get', 'pods', '-o', '')).toEqual(['table', 'wide', 'json', 'yaml', 'name']);
    expect(await offered('get', 'pods', '--output', '=', 'j')).toEqual(['json']);
    expect(await offered('delete', 'pods', '--wait', '=')).toEqual(['true', 'false']);
    expect(await offered('apply', '-f', 'package.j')).toEqual(['package.json']);
    expect(await offered('serve', '--data', 'sr')).toEqual(['src']);
    expect(await offered('serve', '--token', '')).toEqual([]);
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await offered('generate', '')).toEqual(['types']);
    expect(await offered('generate', 'types', 'package.j')).toEqual(['package.json']);
  });

  test.each(['bash', 'zsh', 'fish'])('names every command and option in the script for %s', async (shell) => {
    const { code, out } = await run(`completion ${shell}`);
    expect(code).toBe(0);
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      expect(out).toContain(name);
      const { options } = (await load()).command;
      for (const option of Object.keys(options))
        expect(out).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`);
    }
    if (hasShell(shell)) {
      const parsed = spawnSync(shell, ['-n'], { input: out, encoding: 'utf8' });
      expect({ status: parsed.status, err: parsed.stderr }).toEqual({ status: 0, err: '' });
    }
  });

  test.each(['completion', 'completion tcsh', 'completion bash zsh'])('rejects "%s"', async (line) => {
    expect(await run(line)).toEqual({ code: 2, out: '', err: 'orchplane: completion takes bash, zsh or fish\n' });
  });
});
