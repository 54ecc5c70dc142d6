/**
 * Makes scripts of the ES modules in `dist`, for src/node/code-cache.ts. The large ones are divided into parts: what the
 * first objects of a process need, and the rest by folder, which is loaded on first use.
 */
import ts from 'typescript';
import type { Script } from './src/node/code-cache.js';
import { exportNames, exportsOf, importsOf, MODULE_SYNTAX, type Module, nodesOf } from './tsup.modules.js';

/** Smaller files are loaded as a whole. */
const MIN_DIVIDED_BYTES = 200_000;

/**
 * The scripts of a file: the whole and, if it is divided, its parts. `called`: where the functions start
 * that the first objects of a process call.
 */
export function scriptsOf(module: Module, called: ReadonlySet<number> = new Set()): Script[] {
  const isDivided = module.text.length > MIN_DIVIDED_BYTES && called.size > 0;
  const parts = isDivided ? partsOf(module, called) : [];
  const tail = `; return { exports: ${exportsOf(module)} };`;
  const whole = scriptOf(module, module.code, { head: importsOf(module), tail });
  return [
    whole,
    ...parts.map((part, index) =>
      scriptOf(
        module,
        part.map(({ node }) => node),
        partFrame(module, parts, index),
      ),
    ),
  ];
}

function scriptOf(module: Module, nodes: readonly ts.Statement[], frame: Pick<Script, 'head' | 'tail'>): Script {
  const { source, text, code } = module;
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const places = new Map(code.map((node, index) => [node, index]));
  const ranges: number[] = [];
  let before: ts.Statement | undefined;
  for (const node of nodes) {
    const isNext = before !== undefined && places.get(node) === (places.get(before) ?? 0) + 1;
    const lines = before === undefined ? 0 : lineAt(node.getStart()) - lineAt(before.getEnd());
    if (isNext) ranges[ranges.length - 1] = node.getEnd();
    else ranges.push(lines, node.getStart(), node.getEnd());
    before = node;
  }
  const hasModuleSyntax = nodes.some((node) => text.slice(node.getStart(), node.getEnd()).search(MODULE_SYNTAX) >= 0);
  return { line: lineAt(ranges[1] ?? 0), ranges, ...frame, hasModuleSyntax };
}

/** A statement at the top of a file. */
interface Unit {
  readonly node: ts.Statement;
  readonly names: readonly string[];
  /** The folder of its source: `src/cel`. */
  readonly folder: string;
  /** Other parts may get a function instead that loads this one. */
  readonly isFunction: boolean;
  /** It must be in the first part. */
  isFirst: boolean;
  /** Assigned after its declaration: a copy in another part would not change. */
  isMutable: boolean;
  /** What it refers to, by name. */
  readonly units: Map<string, Unit>;
  readonly imports: Set<string>;
}

/** Smaller parts are not worth a file. */
const MIN_PART_BYTES = 30_000;

function partsOf(module: Module, called: ReadonlySet<number>): Unit[][] {
  const units = readUnits(module, called);
  const queue = units.filter((unit) => unit.isFirst);
  for (let unit = queue.pop(); unit !== undefined; unit = queue.pop()) {
    for (const used of unit.units.values()) {
      if (used.isFunction || used.isFirst) continue;
      used.isFirst = true;
      queue.push(used);
    }
  }
  return [units.filter((unit) => unit.isFirst), ...lateParts(units.filter((unit) => !unit.isFirst))];
}

function readUnits({ file, source, text, exports, code }: Module, called: ReadonlySet<number>): Unit[] {
  const exported = new Set(exports.flatMap(exportNames).map(({ from }) => from));
  const units: Unit[] = [];
  const byDeclaration = new Map<ts.Node, Unit>();
  let folder = '';
  for (const node of code) {
    // esbuild writes the path of each source file.
    const [, path] = /^\/\/ (\S+\/\S+)$/m.exec(text.slice(node.getFullStart(), node.getStart())) ?? [];
    folder = path === undefined ? folder : folderOf(path);
    const declarations = declarationsIn(node);
    const names = declarations.map(({ name }) => name.text);
    const isFunction =
      ts.isFunctionDeclaration(node) && !nodesOf(node).some(({ kind }) => kind === ts.SyntaxKind.ThisKeyword);
    const isFirst = isFunction
      ? called.has(node.getStart())
      : names.length === 0 || names.some((name) => exported.has(name));
    const unit: Unit = {
      node,
      names,
      folder,
      isFunction,
      isFirst,
      isMutable: false,
      units: new Map(),
      imports: new Set(),
    };
    for (const { declaration } of declarations) byDeclaration.set(declaration, unit);
    units.push(unit);
  }
  const checker = checkerOf(file, source);
  for (const unit of units) {
    for (const name of nodesOf(unit.node).filter(ts.isIdentifier)) {
      const { parent } = name;
      if (ts.isPropertyAccessExpression(parent) && parent.name === name) continue;
      const symbol = ts.isShorthandPropertyAssignment(parent)
        ? checker.getShorthandAssignmentValueSymbol(parent)
        : checker.getSymbolAtLocation(name);
      const declaration = symbol?.declarations?.[0];
      if (declaration === undefined) continue;
      const used = byDeclaration.get(declaration);
      if (used !== undefined && used !== unit) unit.units.set(name.text, used);
      if (used !== undefined && isAssigned(name)) used.isMutable = true;
      if (ts.isImportSpecifier(declaration) || ts.isNamespaceImport(declaration) || ts.isImportClause(declaration))
        unit.imports.add(name.text);
    }
  }
  for (const unit of units) unit.isFirst ||= [unit, ...unit.units.values()].some(({ isMutable }) => isMutable);
  return units;
}

/** Kinds by group, because a program uses few of them. */
function folderOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('src/kinds/') ? 3 : 2)
    .join('/');
}

interface NamedDeclaration {
  readonly declaration: ts.Node;
  readonly name: ts.Identifier;
}

function declarationsIn(node: ts.Node): NamedDeclaration[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.flatMap(declarationsIn);
  if (ts.isVariableDeclaration(node) || ts.isBindingElement(node)) {
    if (ts.isIdentifier(node.name)) return [{ declaration: node, name: node.name }];
    return node.name.elements.flatMap(declarationsIn);
  }
  const isDeclaration = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node);
  return isDeclaration && node.name !== undefined ? [{ declaration: node, name: node.name }] : [];
}

function isAssigned(name: ts.Identifier): boolean {
  let node: ts.Node = name;
  // In a pattern: [name] = values, ({ name } = value).
  while (
    ts.isArrayLiteralExpression(node.parent) ||
    ts.isObjectLiteralElement(node.parent) ||
    ts.isObjectLiteralExpression(node.parent)
  )
    node = node.parent;
  const { parent } = node;
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent))
    return parent.operator === ts.SyntaxKind.PlusPlusToken || parent.operator === ts.SyntaxKind.MinusMinusToken;
  if (ts.isForInStatement(parent) || ts.isForOfStatement(parent)) return parent.initializer === node;
  if (!ts.isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** Resolves the names in one file. */
function checkerOf(file: string, source: ts.SourceFile): ts.TypeChecker {
  const options = { allowJs: true, noLib: true, noResolve: true, target: ts.ScriptTarget.ES2022 };
  const host = ts.createCompilerHost(options);
  return ts
    .createProgram([file], options, { ...host, getSourceFile: (name) => (name === file ? source : undefined) })
    .getTypeChecker();
}

/** One part for each folder. Folders whose variables refer to each other are one part, as are small ones. */
function lateParts(units: readonly Unit[]): Unit[][] {
  const parts = new Map<string, Unit[]>();
  for (const unit of units) parts.set(unit.folder, [...(parts.get(unit.folder) ?? []), unit]);
  for (;;) {
    const partOf = new Map([...parts].flatMap(([name, list]) => list.map((unit) => [unit, name])));
    const needed = (name: string): string[] =>
      (parts.get(name) ?? []).flatMap((unit) =>
        [...unit.units.values()].flatMap((used) => (used.isFunction ? [] : (partOf.get(used) ?? []))),
      );
    const reachable = (name: string, found = new Set<string>()): Set<string> => {
      for (const other of needed(name)) if (other !== name && !found.has(other)) reachable(other, found.add(other));
      return found;
    };
    const cyclic = [...parts.keys()].map((name) =>
      [name, ...reachable(name)].filter((other) => other === name || reachable(other).has(name)),
    );
    const small = [...parts].filter(([, list]) => bytesOf(list) < MIN_PART_BYTES).map(([name]) => name);
    const merged = cyclic.find((names) => names.length > 1) ?? small;
    if (merged.length < 2) break;
    const [first = '', ...others] = merged;
    for (const other of others) {
      parts.get(first)?.push(...(parts.get(other) ?? []));
      parts.delete(other);
    }
  }
  const byPosition = (left: Unit, right: Unit): number => left.node.pos - right.node.pos;
  return [...parts.values()].map((list) => list.sort(byPosition));
}

function bytesOf(units: readonly Unit[]): number {
  return units.reduce((sum, { node }) => sum + node.getEnd() - node.getStart(), 0);
}

/** Makes a function that loads a part when it is called. */
const LATE = 'const $late = (part, name) => (...args) => $part(part)[name](...args);';

/** What replaces the imports and exports of a part. */
function partFrame(module: Module, parts: readonly (readonly Unit[])[], index: number): Pick<Script, 'head' | 'tail'> {
  const part = parts[index] ?? [];
  const partOf = new Map(parts.flatMap((units, at) => units.map((unit) => [unit, at])));
  /** What a part uses of another one. */
  const usedFrom = (units: readonly Unit[], at: number, isFunction?: boolean): string[] => {
    const used = units.flatMap((unit) => [...unit.units]).filter(([, unit]) => partOf.get(unit) === at);
    return [
      ...new Set(used.filter(([, unit]) => (isFunction ?? unit.isFunction) === unit.isFunction).map(([name]) => name)),
    ];
  };
  const imports = importsOf(module, index === 0 ? undefined : new Set(part.flatMap((unit) => [...unit.imports])));
  const exported = new Set(module.exports.flatMap(exportNames).map(({ from }) => from));
  const lateNames = (at: number): string[] => {
    const names = parts[at]?.flatMap((unit) => unit.names).filter((name) => exported.has(name)) ?? [];
    return [...new Set([...usedFrom(part, at, true), ...(index === 0 ? names : [])])];
  };
  const others = parts.map((_, at) => at).filter((at) => at !== 0 && at !== index);
  const functions = others.flatMap((at) => lateNames(at).map((name) => `${name} = $late(${at + 1}, '${name}')`));
  const late = functions.length === 0 ? '' : `${LATE} let ${functions.join(', ')};`;
  if (index === 0) {
    const scopes = others.map((at) => `() => ({ ${usedFrom(parts[at] ?? [], 0).join(', ')} })`);
    const binds = others.map((at) => `($) => { ({ ${lateNames(at).join(', ')} } = $); }`);
    const tail = `; return { exports: ${exportsOf(module)}, scopes: [, , ${scopes.join(', ')}], binds: [, , ${binds.join(', ')}] };`;
    return { head: `${imports} ${late}`, tail };
  }
  const variables = others
    .map((at) => [at, usedFrom(part, at, false)] as const)
    .filter(([, names]) => names.length > 0);
  const scope = `const { ${usedFrom(part, 0).join(', ')} } = $scope;`;
  const heads = [
    imports,
    scope,
    ...variables.map(([at, names]) => `const { ${names.join(', ')} } = $part(${at + 1});`),
    late,
  ];
  const used = parts.flatMap((units, at) => (at === index ? [] : usedFrom(units, index)));
  const own = part.flatMap((unit) => unit.names).filter((name) => exported.has(name));
  return { head: heads.join(' '), tail: `; return { ${[...new Set([...used, ...own])].join(', ')} };` };
}
