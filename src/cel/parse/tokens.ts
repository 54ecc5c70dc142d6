/**
 * Token types, their names in messages, and the functions that operators stand for. Operator function names cannot be
 * written as calls.
 */

/** Token types, numbered in the order in which messages list them. */
export const TokenType = {
  /** End of input. */
  END: 0,
  EQUALS: 1,
  NOT_EQUALS: 2,
  IN: 3,
  LESS: 4,
  LESS_EQUALS: 5,
  GREATER_EQUALS: 6,
  GREATER: 7,
  AND: 8,
  OR: 9,
  OPEN_BRACKET: 10,
  CLOSE_BRACKET: 11,
  OPEN_BRACE: 12,
  CLOSE_BRACE: 13,
  OPEN_PAREN: 14,
  CLOSE_PAREN: 15,
  DOT: 16,
  COMMA: 17,
  MINUS: 18,
  NOT: 19,
  QUESTION: 20,
  COLON: 21,
  PLUS: 22,
  STAR: 23,
  SLASH: 24,
  PERCENT: 25,
  TRUE: 26,
  FALSE: 27,
  NULL: 28,
  /** The parser skips these two, but they are part of quoted input in messages. */
  WHITESPACE: 29,
  COMMENT: 30,
  FLOAT: 31,
  INT: 32,
  UINT: 33,
  STRING: 34,
  BYTES: 35,
  IDENTIFIER: 36,
  ESCAPED_IDENTIFIER: 37,
  /** Characters that are not a token; they are skipped with an error. */
  INVALID: 38,
} as const;

const NAMES: readonly string[] = [
  '<EOF>',
  ...['==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?'].map(
    (text) => `'${text}'`,
  ),
  ...[':', '+', '*', '/', '%', 'true', 'false', 'null'].map((text) => `'${text}'`),
  ...['WHITESPACE', 'COMMENT', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', 'ESC_IDENTIFIER'],
];

/** The name of a token type in messages: `'=='`, `IDENTIFIER`, `<EOF>`. */
export function tokenName(type: number): string {
  return NAMES[type] ?? '';
}

/** Whether all tokens of the type have the same text. */
export function hasOneSpelling(type: number): boolean {
  return type !== TokenType.END && type <= TokenType.NULL;
}

export function isHidden(type: number): boolean {
  return type === TokenType.WHITESPACE || type === TokenType.COMMENT;
}

/** Reserved words. They cannot name variables or functions, but fields. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'false', 'for', 'function', 'if', 'import', 'in', 'let', 'loop'],
  ...['package', 'namespace', 'null', 'return', 'true', 'var', 'void', 'while'],
]);

export const CONDITIONAL = '_?_:_';

export const LOGICAL_AND = '_&&_';

export const LOGICAL_OR = '_||_';

export const LOGICAL_NOT = '!_';

export const NEGATE = '-_';

export const EQUALS = '_==_';

export const ADD = '_+_';

export const INDEX = '_[_]';

export const OPTIONAL_INDEX = '_[?_]';

export const OPTIONAL_SELECT = '_?._';

/** True for anything but `false`, including errors: the loop condition of `all` and `exists`. */
export const NOT_STRICTLY_FALSE = '@not_strictly_false';

export const RELATION_FUNCTIONS: ReadonlyMap<number, string> = new Map([
  [TokenType.EQUALS, EQUALS],
  [TokenType.NOT_EQUALS, '_!=_'],
  [TokenType.IN, '@in'],
  [TokenType.LESS, '_<_'],
  [TokenType.LESS_EQUALS, '_<=_'],
  [TokenType.GREATER_EQUALS, '_>=_'],
  [TokenType.GREATER, '_>_'],
]);

export const ARITHMETIC_FUNCTIONS: ReadonlyMap<number, string> = new Map([
  [TokenType.STAR, '_*_'],
  [TokenType.SLASH, '_/_'],
  [TokenType.PERCENT, '_%_'],
  [TokenType.PLUS, ADD],
  [TokenType.MINUS, '_-_'],
]);
