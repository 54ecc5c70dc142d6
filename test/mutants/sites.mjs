/**
 * Finds the places in the sources that a mutant can change, and the blocks (functions, branches, loops) that contain them.
 * Types and strings are not changed, nor are Boolean values in tables of modules.
 */
import ts from 'typescript';

const SWAPPED = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};
const SWAPPED_METHODS = { some: 'every', every: 'some' };

/** Text of a string, or a sum that has one: `-` in its place is only another way to fail. */
const isText = (node) =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

/** The mutants of one node: what is replaced, and with which text. */
function* mutantsOf(node, source, isTopLevel) {
  const textOf = (part) => source.text.slice(part.getStart(source), part.end);
  const replace = (part, text) => ({ start: part.getStart(source), end: part.end, text });
  if (ts.isBinaryExpression(node)) {
    const operator = textOf(node.operatorToken);
    const isSum = operator === '+' || operator === '-';
    if (Object.hasOwn(SWAPPED, operator) && !(isSum && (isText(node.left) || isText(node.right)))) {
      // Parentheses keep the order in which a mix of && and || is evaluated.
      const swapped = `((${textOf(node.left)}) ${SWAPPED[operator]} (${textOf(node.right)}))`;
      yield { ...replace(node, swapped), change: `${operator} to ${SWAPPED[operator]}` };
    }
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    yield { ...replace(node, `(${textOf(node.operand)})`), change: 'without !' };
  } else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    yield { ...replace(condition, 'true'), change: 'condition is true' };
    yield { ...replace(condition, 'false'), change: 'condition is false' };
  } else if (ts.isWhileStatement(node)) {
    yield { ...replace(node.expression, 'false'), change: 'condition is false' };
  } else if (ts.isExpressionStatement(node) && !isTopLevel) {
    const called = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
    const isSuper = ts.isCallExpression(called) && called.expression.kind === ts.SyntaxKind.SuperKeyword;
    if (ts.isCallExpression(called) && !isSuper) yield { ...replace(node, ';'), change: 'statement removed' };
  } else if (node.kind === ts.SyntaxKind.TrueKeyword && !isTopLevel) {
    yield { ...replace(node, 'false'), change: 'true to false' };
  } else if (node.kind === ts.SyntaxKind.FalseKeyword && !isTopLevel) {
    yield { ...replace(node, 'true'), change: 'false to true' };
  } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression: receiver } = node.expression;
    if (Object.hasOwn(SWAPPED_METHODS, name.text)) {
      yield { ...replace(name, SWAPPED_METHODS[name.text]), change: `${name.text} to ${SWAPPED_METHODS[name.text]}` };
    } else if (name.text === 'filter') {
      yield { ...replace(node, textOf(receiver)), change: 'filter removed' };
    }
  }
}

/** Where a statement can be inserted that runs whenever the block does; undefined for a node that is no block. */
function blockStart(node, source) {
  if (ts.isBlock(node)) return { at: node.getStart(source) + 1 };
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return { at: node.body.getStart(source), end: node.body.end };
  if ((ts.isCaseClause(node) || ts.isDefaultClause(node)) && node.statements.length > 0) {
    return { at: node.statements[0].getStart(source) };
  }
  return undefined;
}

/** All mutants and blocks of a file. `block` of a mutant is the index of the innermost block; -1 is the module itself. */
export function parseSource(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const mutants = [];
  const blocks = [];
  const visit = (node, block) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    for (const mutant of mutantsOf(node, source, block === -1)) {
      const { line, character } = source.getLineAndCharacterOfPosition(mutant.start);
      const original = text.slice(mutant.start, mutant.end);
      mutants.push({ file, line: line + 1, column: character + 1, block, original, ...mutant });
    }
    const start = blockStart(node, source);
    const inner = start === undefined ? block : blocks.push(start) - 1;
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(source, -1);
  return { mutants, blocks };
}

/** The text of a file that records the blocks that run. `firstId` is the number of the file's first block. */
export function withRecording(text, blocks, firstId) {
  const insertions = blocks.flatMap(({ at, end }, index) => {
    const record = `globalThis.__blocks[${firstId + index}]=1`;
    // Of two insertions at one place, the block that starts first (the outer one) opens first and closes last.
    if (end === undefined) return [{ at, order: index, text: `${record};` }];
    return [
      { at, order: index, text: `(${record},` },
      { at: end, order: -index - 1, text: ')' },
    ];
  });
  insertions.sort((a, b) => a.at - b.at || a.order - b.order);
  let recorded = '';
  let from = 0;
  for (const insertion of insertions) {
    recorded += text.slice(from, insertion.at) + insertion.text;
    from = insertion.at;
  }
  return recorded + text.slice(from);
}
