/**
 * The public exports as a text for review. A new or removed name changes exports.txt; update it with `npm run
 * test:exports`.
 */
import { execFileSync } from 'node:child_process';
import ts from 'typescript';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Entry } from './manifest.js';
import { entries, RUNNER_ENTRIES, requireBuild, root } from './manifest.js';

beforeAll(requireBuild);

describe('the exports of the package', () => {
  test('exports exactly the names in exports.txt', { timeout: 60_000 }, async () => {
    const outside = entries.filter(({ name }) => !RUNNER_ENTRIES.includes(name));
    const values = { ...valuesOf(outside), ...(await runnerValues()) };
    const types = typesOf(entries);
    const sections = entries.map((entry) =>
      [
        entry.specifier,
        ...(values[entry.specifier] ?? []).map((name) => `  ${name}`),
        ...(types[entry.specifier] ?? []).map((name) => `  type ${name}`),
      ].join('\n'),
    );
    await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('exports.txt');
  });
});

// Outside of jest, this module throws.
vi.mock('@jest/globals', () => ({ expect, test }));

async function runnerValues(): Promise<Record<string, string[]>> {
  const found = entries.filter(({ name }) => RUNNER_ENTRIES.includes(name));
  const values = found.map(
    async ({ specifier, file }) => [specifier, Object.keys((await import(file)) as object).sort()] as const,
  );
  return Object.fromEntries(await Promise.all(values));
}

/**
 * The exports at run time, from a Node process that imports each entry by its public name. This checks the exports map
 * and the built files without the resolution of the test runner.
 */
function valuesOf(list: readonly Entry[]): Record<string, string[]> {
  const script = `
    const names = {};
    for (const specifier of ${JSON.stringify(list.map((entry) => entry.specifier))}) {
      names[specifier] = Object.keys(await import(specifier)).sort();
    }
    console.log(JSON.stringify(names));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
  return JSON.parse(output.toString()) as Record<string, string[]>;
}

/** The exports that exist only as types. */
function typesOf(list: readonly Entry[]): Record<string, string[]> {
  const program = ts.createProgram(
    list.map((entry) => entry.types),
    { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, skipLibCheck: true, types: [] },
  );
  const checker = program.getTypeChecker();
  const isValue = (symbol: ts.Symbol): boolean => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return (target.flags & ts.SymbolFlags.Value) !== 0;
  };
  return Object.fromEntries(
    list.map((entry) => {
      const file = program.getSourceFile(entry.types);
      const module = file && checker.getSymbolAtLocation(file);
      const exported = module === undefined ? [] : checker.getExportsOfModule(module);
      const names = exported.filter((symbol) => !isValue(symbol)).map((symbol) => symbol.name);
      return [entry.specifier, names.sort()];
    }),
  );
}
