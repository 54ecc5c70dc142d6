/**
 * What the code may not contain: built-ins outside src/node, hidden time or chance, names that belong to the dialect,
 * and a few habits of style that a linter does not know. Each rule is a function from one file to its findings, tried
 * on a made-up file first, so that a rule that stops matching is noticed.
 */
import { builtinModules } from 'node:module';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { entries, manifest } from './manifest.js';
import type { Finding, SourceFile } from './sources.js';
import { lineOf, nodesOf, parseSource, report, sources } from './sources.js';

interface Rule {
  readonly name: string;
  /** What to do instead. */
  readonly advice: string;
  readonly find: (source: SourceFile) => Finding[];
  /** Made-up files: each of `bad` has exactly one finding, `good` has none. */
  readonly bad: readonly Sample[];
  readonly good: readonly Sample[];
}

type Sample = readonly [path: string, text: string];

const MAX_LINES = 400;
const SERVICE_TOKENS = ['orch.io', 'k8s.io', 'kubernetes.io', 'vnd.orch', 'vnd.kubernetes', 'x-orch-', 'x-kubernetes-'];
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'requestAnimationFrame', 'requestIdleCallback'];
const NODE_GLOBALS = ['process', 'Buffer', 'global', 'require', '__dirname', '__filename'];

const rules: readonly Rule[] = [
  {
    name: 'only src/node imports Node built-ins',
    advice: 'Move it to src/node, or pass in what is needed.',
    find: (source) =>
      source.folder === 'node'
        ? []
        : source.imports
            .filter(({ specifier }) => specifier.startsWith('node:') || builtinModules.includes(specifier))
            .map(({ specifier, line }) => ({ file: source.path, line, what: `imports '${specifier}'` })),
    bad: [
      ['src/util/a.ts', `import { join } from 'node:path';`],
      ['src/util/a.ts', `import { join } from 'path';`],
      ['src/util/a.ts', `const fs = await import('node:fs');`],
    ],
    good: [['src/node/a.ts', `import { createServer } from 'node:http';`]],
  },
  {
    name: 'only src/node uses the globals of Node',
    advice: 'Take the value as an option; use Uint8Array instead of Buffer.',
    find: (source) => (source.folder === 'node' ? [] : uses(source, (name) => NODE_GLOBALS.includes(name))),
    bad: [
      ['src/util/a.ts', `export const debug = process.env['DEBUG'];`],
      ['src/util/a.ts', `export const bytes = globalThis.Buffer;`],
    ],
    good: [
      ['src/util/a.ts', `export interface A { process: string } export const f = (a: A) => a.process;`],
      ['src/util/a.ts', `const process = (text: string) => text; export const t = process('x');`],
    ],
  },
  {
    name: 'every package that src imports is a declared dependency',
    advice: 'Add it to dependencies or peerDependencies; import our own files by relative path.',
    find: (source) =>
      source.imports
        .filter(({ specifier, file }) => file === undefined && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !declaredPackages.has(packageOf(specifier)))
        .map(({ specifier, line }) => ({ file: source.path, line, what: `imports '${specifier}'` })),
    bad: [
      ['src/util/a.ts', `import { Pod } from 'orchplane/kinds';`],
      ['src/util/a.ts', `import type { Plugin } from '@scope/undeclared/deep';`],
    ],
    good: [['src/util/a.ts', `import * as z from 'zod'; import { core } from 'zod/v4/core';`]],
  },
  {
    name: 'only util/clock.ts reads the time or starts a timer',
    advice: 'Take a Clock.',
    find: (source) =>
      source.path === 'src/util/clock.ts'
        ? []
        : [
            ...uses(source, (name) => TIMERS.includes(name) && source.folder !== 'node'),
            ...uses(source, (name, member) => name === 'Date' && member === 'now'),
            ...uses(source, (name, member) => name === 'AbortSignal' && member === 'timeout'),
            ...uses(source, (name) => name === 'performance'),
            ...presentDates(source),
          ],
    bad: [
      ['src/util/a.ts', `export const t = Date.now();`],
      ['src/util/a.ts', `export const t = globalThis.Date.now();`],
      ['src/util/a.ts', `export const t = new Date();`],
      ['src/util/a.ts', `export const t = new Date;`],
      ['src/util/a.ts', `export const t = Date();`],
      ['src/util/a.ts', `export const t = performance.now();`],
      ['src/util/a.ts', `export const wait = (run: () => void) => setTimeout(run, 1);`],
      ['src/util/a.ts', `export const wait = { start: setInterval };`],
      ['src/util/a.ts', `export const wait = globalThis.setTimeout;`],
      ['src/util/a.ts', `export const soon = AbortSignal.timeout(1);`],
      ['src/node/a.ts', `export const t = Date.now();`],
    ],
    good: [
      ['src/util/clock.ts', `export const t = Date.now();`],
      ['src/node/a.ts', `setTimeout(() => undefined, 1);`],
      ['src/util/a.ts', `export const t = new Date(0); queueMicrotask(() => undefined); Date.parse('x');`],
      ['src/util/a.ts', `// setTimeout and Date.now()\nexport const text = 'new Date()';`],
      ['src/util/a.ts', `export interface Timers { setTimeout(run: () => void): void }`],
    ],
  },
  {
    name: 'only util/ids.ts uses chance',
    advice: 'Take Ids.',
    find: (source) =>
      source.path === 'src/util/ids.ts'
        ? []
        : [
            ...uses(source, (name, member) => name === 'Math' && member === 'random'),
            ...uses(source, (name) => name === 'crypto'),
          ],
    bad: [
      ['src/util/a.ts', `export const n = Math.random();`],
      ['src/util/a.ts', `export const id = crypto.randomUUID();`],
      ['src/util/a.ts', `export const id = globalThis.crypto.randomUUID();`],
    ],
    good: [
      ['src/util/ids.ts', `export const n = Math.random();`],
      ['src/util/a.ts', `export const n = Math.floor(1.5);`],
    ],
  },
  {
    name: 'only meta/dialect.ts spells names that carry the service',
    advice: 'Ask the dialect: serviceGroup(), dialect.key(), dialect.extension(), dialect.mediaType().',
    find: (source) => (source.path === 'src/meta/dialect.ts' ? [] : serviceNames(source)),
    bad: [
      ['src/kinds/a.ts', `export const group = 'storage.k8s.io';`],
      ['src/kinds/a.ts', `export const key = (name: string) => \`\${name}.orch.io/x\`;`],
      ['src/kinds/a.ts', `export const hints = { 'x-kubernetes-list-type': 'map' };`],
      ['src/kinds/a.ts', `export type Media = 'application/vnd.orch.protobuf';`],
      ['src/kinds/a.ts', `export const isOurs = (group: string) => /\\.k8s\\.io$/.test(group);`],
    ],
    good: [
      ['src/kinds/a.ts', `/** As in storage.k8s.io. */\nexport const name = 'kubernetes'; // kubernetes.io/x`],
      ['src/meta/dialect.ts', `export const suffix = '.orch.io';`],
    ],
  },
  {
    name: 'exports are named',
    advice: 'Replace the default export.',
    find: (source) => nodesWhere(source, isDefaultExport, 'is a default export'),
    bad: [
      ['src/util/a.ts', `export default 1;`],
      ['src/util/a.ts', `export default function run() {}`],
      ['src/util/a.ts', `const a = 1; export { a as default };`],
      ['src/util/a.ts', `export { default } from 'zod';`],
    ],
    good: [['src/util/a.ts', `import z from 'zod'; export { z }; export const a = { default: 1 };`]],
  },
  {
    name: 'only entries and the groups of kinds use export *',
    advice: 'Name what is exported.',
    find: (source) =>
      entries.some((entry) => entry.source === source.path) || isGroupOfKinds(source.path)
        ? []
        : nodesWhere(source, isExportStar, 'exports everything of another module'),
    bad: [
      ['src/meta/index.ts', `export * from './errors.js';`],
      ['src/meta/index.ts', `export * as errors from './errors.js';`],
    ],
    good: [['src/kinds/index.ts', `export * from './core/index.js';`]],
  },
  {
    name: `no file is longer than ${MAX_LINES} lines`,
    advice: 'Split it: one noun or one verb per file; a kind that outgrows one file becomes a folder of its name.',
    find: ({ path, lines }) =>
      lines.length > MAX_LINES ? [{ file: path, line: MAX_LINES + 1, what: `has ${lines.length} lines` }] : [],
    bad: [['src/util/a.ts', '\n'.repeat(MAX_LINES + 1)]],
    good: [['src/util/a.ts', '\n'.repeat(MAX_LINES)]],
  },
  {
    name: 'any carries its reason in a comment',
    advice: 'Use unknown, a type parameter or a checked cast; where any is the only way, say why.',
    find: (source) =>
      nodesWhere(source, (node) => node.kind === ts.SyntaxKind.AnyKeyword, 'any without a reason').filter(
        ({ line }) => !isReason(source.lines[line - 1]) && !isSuppression(source.lines[line - 2]),
      ),
    bad: [
      ['src/util/a.ts', `export type A = any;`],
      ['src/util/a.ts', `/** What it is for. */\nexport const a = (x: any) => x;`],
      ['src/util/a.ts', `// biome-ignore lint/suspicious/noExplicitAny:\nexport const a = (x: any) => x;`],
    ],
    good: [
      ['src/util/a.ts', `export type A = any; // a constraint: any arguments fit`],
      ['src/util/a.ts', `// biome-ignore lint/suspicious/noExplicitAny: any arguments fit\nexport type A = any;`],
      ['src/util/a.ts', `export const any = 1; // names may be what they like`],
    ],
  },
  {
    name: 'the compiler is never silenced',
    advice: 'Fix the type; a cast at a boundary that was just checked is the last resort.',
    find: ({ path, lines }) =>
      lines.flatMap((text, index) =>
        /@ts-(ignore|expect-error|nocheck)/.test(text) ? [{ file: path, line: index + 1, what: text.trim() }] : [],
      ),
    bad: [['src/util/a.ts', `// @ts-expect-error it works\nexport const a: string = 1;`]],
    good: [],
  },
];

for (const { name, advice, find, bad, good } of rules) {
  describe(name, () => {
    test('holds in src', () => {
      const findings = sources.flatMap(find);
      expect(findings, report(`Rule: ${name}. ${advice}`, findings)).toEqual([]);
    });

    test('tells good from bad', () => {
      expect(bad.filter(([path, text]) => find(parseSource(path, text)).length !== 1)).toEqual([]);
      expect(good.filter(([path, text]) => find(parseSource(path, text)).length !== 0)).toEqual([]);
    });
  });
}

const declaredPackages = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));

/** `zod/v4/core` → `zod`, `@scope/name/deep` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * Uses of a global, or of a member of one, that `matches` picks. `globalThis.x` counts as `x`; a property or a
 * declaration that merely has the same name does not, nor does a name that the file itself declares.
 */
function uses(source: SourceFile, matches: (name: string, member: string | undefined) => boolean): Finding[] {
  const own = declaredNames(source);
  return nodesOf(source.tree).flatMap((node) => {
    const name = globalName(node);
    if (name === undefined || own.has(name)) return [];
    const member =
      ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node ? node.parent.name.text : undefined;
    if (!matches(name, member)) return [];
    return [
      {
        file: source.path,
        line: lineOf(source.tree, node),
        what: `uses ${member === undefined ? name : `${name}.${member}`}`,
      },
    ];
  });
}

/** `setTimeout` and `globalThis.setTimeout` in a place where their value is read. */
function globalName(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    return ts.isIdentifier(node.expression) && node.expression.text === 'globalThis' ? node.name.text : undefined;
  }
  if (!ts.isIdentifier(node)) return undefined;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node ? node.text : undefined;
  if (ts.isShorthandPropertyAssignment(parent)) return node.text;
  return ts.isTypeNode(parent) || ts.isQualifiedName(parent) || hasAsName(parent, node) ? undefined : node.text;
}

/** The node is what its parent is called: a property, a method, a parameter, an imported name. */
function hasAsName(parent: ts.Node, node: ts.Node): boolean {
  return ('name' in parent && parent.name === node) || ('propertyName' in parent && parent.propertyName === node);
}

/** Names that the file binds itself: variables, parameters, functions, imports. */
function declaredNames(source: SourceFile): Set<string> {
  const names = new Set<string>();
  for (const node of nodesOf(source.tree)) {
    const binds =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node) ||
      ts.isNamespaceImport(node);
    if (binds && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  }
  return names;
}

/** `new Date()` and `Date()`: the present moment. With arguments a Date is a plain value. */
function presentDates(source: SourceFile): Finding[] {
  const isDate = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === 'Date';
  return nodesWhere(
    source,
    (node) =>
      (ts.isNewExpression(node) && isDate(node.expression) && (node.arguments ?? []).length === 0) ||
      (ts.isCallExpression(node) && isDate(node.expression)),
    'asks Date for the present time',
  );
}

function serviceNames(source: SourceFile): Finding[] {
  return nodesOf(source.tree).flatMap((node) => {
    if (!ts.isLiteralExpression(node) && !ts.isTemplateLiteralToken(node)) return [];
    // A pattern escapes its dots; without the backslashes it reads like the name it matches.
    const text = node.getText(source.tree).replaceAll('\\', '').toLowerCase();
    const token = SERVICE_TOKENS.find((each) => text.includes(each));
    return token === undefined
      ? []
      : [{ file: source.path, line: lineOf(source.tree, node), what: `'${token}' in ${text}` }];
  });
}

function nodesWhere(source: SourceFile, matches: (node: ts.Node) => boolean, what: string): Finding[] {
  return nodesOf(source.tree)
    .filter(matches)
    .map((node) => ({ file: source.path, line: lineOf(source.tree, node), what }));
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return node.kind === ts.SyntaxKind.DefaultKeyword && ts.canHaveModifiers(node.parent);
}

/** A group gathers its kinds for the entry; the list of exported names is held by a test of its own. */
function isGroupOfKinds(path: string): boolean {
  return /^src\/kinds\/[a-z]+\/index\.ts$/.test(path);
}

function isExportStar(node: ts.Node): boolean {
  return ts.isExportDeclaration(node) && (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause));
}

/** Code followed by a comment with words in it. */
function isReason(line: string | undefined): boolean {
  return line !== undefined && /\S\s*(\/\/|\/\*).*\w+\s+\w+/.test(line);
}

/** The linter's own comment, which stands on the line above and must name a reason. */
function isSuppression(line: string | undefined): boolean {
  return line !== undefined && /noExplicitAny:\s*\w+/.test(line);
}
