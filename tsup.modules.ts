/** Reads the ES modules in `dist`, and writes the ones that load them with the code cache. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const DYNAMIC_IMPORT = /\bimport\(/g;
/** As in src/node/code-cache.ts. */
export const MODULE_SYNTAX = /\bimport(?=\(|\.meta\.url\b)/g;

/** A built file. */
export interface Module {
  readonly file: string;
  readonly source: ts.SourceFile;
  readonly text: string;
  readonly imports: readonly ts.ImportDeclaration[];
  readonly exports: readonly ts.ExportDeclaration[];
  /** What is between imports and exports. */
  readonly code: readonly ts.Statement[];
}

export function readModule(file: string): Module {
  const text = readFileSync(`dist/${file}`, 'utf8');
  const outside = /[^\0-\x7f]/.exec(text);
  if (outside !== null) throw new Error(`dist/${file} contains ${outside[0]}: it is read as ASCII`);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const imports = source.statements.filter(ts.isImportDeclaration);
  const exports = source.statements.filter(ts.isExportDeclaration);
  const code = source.statements.filter((node) => !ts.isImportDeclaration(node) && !ts.isExportDeclaration(node));
  const start = imports.at(-1)?.getEnd() ?? 0;
  if (code.some((node) => node.getStart() < start)) throw new Error(`dist/${file}: an import follows code`);
  const isModuleSyntax = (node: ts.Node): boolean =>
    (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) ||
    (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword);
  const uses = code.flatMap(nodesOf).filter(isModuleSyntax).length;
  if ((text.slice(start).match(MODULE_SYNTAX)?.length ?? 0) !== uses)
    throw new Error(`dist/${file}: not all of "import(" and "import.meta.url" are syntax`);
  return { file, source, text, imports, exports: exports.filter((node) => node.exportClause !== undefined), code };
}

export function nodesOf(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (child: ts.Node): void => {
    nodes.push(child);
    ts.forEachChild(child, visit);
  };
  visit(node);
  return nodes;
}

/** A module that takes other files of this build from the code cache, and other packages from Node. */
export function moduleOf(module: Module): string {
  const { file, text, imports, exports, code } = module;
  const isCli = file === 'node/cli.js';
  const target = (node: ts.ImportDeclaration | ts.ExportDeclaration): string =>
    posix.join(posix.dirname(file), (node.moduleSpecifier as ts.StringLiteral).text);
  const load = `import { load } from '${isCli ? '../cached' : '.'}/load.cjs';`;
  const own = imports.filter(isOwn);
  if (!isCli && !usesPeers(module)) {
    const names = exports.flatMap(exportNames).map(({ name }) => name);
    return `${load}\nconst loaded = load('${file}');\nexport const { ${names.join(', ')} } = loaded;\n`;
  }
  const [first, last] = [code[0], code.at(-1)];
  const body = first === undefined || last === undefined ? '' : text.slice(first.getFullStart(), last.getEnd());
  const loading = body.replace(/\bimport\('([^']*)'\)/g, (_, name: string) => {
    return `Promise.resolve(load('${posix.join(posix.dirname(file), name)}'))`;
  });
  if (DYNAMIC_IMPORT.test(loading)) throw new Error(`dist/${file}: a dynamic import is not a text in single quotes`);
  return [
    ...(isCli ? ['#!/usr/bin/env node'] : []),
    ...imports.filter((node) => !isOwn(node)).map((node) => node.getText()),
    load,
    ...own.map((node, index) => bindings(node, `$${index}`, `load('${target(node)}')`)),
    loading.trim(),
    ...exports.flatMap((node) =>
      node.moduleSpecifier === undefined
        ? [node.getText()]
        : exportNames(node).map(({ name, from }) => `export const ${name} = load('${target(node)}').${from};`),
    ),
    '',
  ].join('\n');
}

function isOwn({ moduleSpecifier }: ts.ImportDeclaration): boolean {
  return (moduleSpecifier as ts.StringLiteral).text.startsWith('.');
}

/** Whether the code uses packages that have to be the same as the user's, such as vitest. */
export function usesPeers({ imports }: Module): boolean {
  return imports.some((node) => !isOwn(node) && !node.moduleSpecifier.getText().includes('node:'));
}

/** The declarations of what an import declares, from the exports of a module; all of them, or those in `names`. */
function bindings(
  { importClause }: ts.ImportDeclaration,
  variable: string,
  value: string,
  names?: ReadonlySet<string>,
): string {
  const named = importClause?.namedBindings;
  const isUsed = (name: ts.Identifier): boolean => names?.has(name.text) ?? true;
  const whole = named !== undefined && ts.isNamespaceImport(named) ? named.name : undefined;
  const wholes = [importClause?.name, whole].filter((name) => name !== undefined).filter(isUsed);
  const elements = named !== undefined && ts.isNamedImports(named) ? named.elements : [];
  const parts = elements
    .filter(({ name }) => isUsed(name))
    .map((node) => `${node.propertyName?.text ?? node.name.text}: ${node.name.text}`);
  const all = [...wholes.map((name) => name.text), ...(parts.length > 0 ? [`{ ${parts.join(', ')} }`] : [])];
  if (all.length === 0 && names !== undefined) return '';
  return `const ${[`${variable} = ${value}`, ...all.map((each) => `${each} = ${variable}`)].join(', ')};`;
}

export function exportNames({
  exportClause,
}: ts.ExportDeclaration): readonly { readonly name: string; readonly from: string }[] {
  if (exportClause === undefined || !ts.isNamedExports(exportClause))
    throw new Error('an export of this build has no names');
  return exportClause.elements.map((node) => ({
    name: node.name.text,
    from: node.propertyName?.text ?? node.name.text,
  }));
}

/** Declares what a file imports, or what is in `names`, and what it exports from other files. */
export function importsOf({ imports, exports }: Module, names?: ReadonlySet<string>): string {
  const heads = imports.map((node, index) =>
    bindings(node, `$${index}`, `$require(${node.moduleSpecifier.getText()})`, names),
  );
  if (names === undefined) {
    for (const [index, node] of exports.entries())
      if (node.moduleSpecifier !== undefined)
        heads.push(`const $e${index} = $require(${node.moduleSpecifier.getText()});`);
  }
  return heads.filter((head) => head !== '').join(' ');
}

export function exportsOf({ exports }: Module): string {
  const names = exports.flatMap((node, index) =>
    exportNames(node).map(({ name, from }) =>
      node.moduleSpecifier === undefined ? `${name}: ${from}` : `${name}: $e${index}.${from}`,
    ),
  );
  return `{ ${names.join(', ')} }`;
}
