/** The functions that operators and the parts of macros stand for. Their names cannot be written as calls. */
import { TokenType } from './tokens.js';

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
/** True for anything but `false`, errors included: the condition under which `all` and `exists` go on. */
export const NOT_STRICTLY_FALSE = '@not_strictly_false';

export const RELATIONS: ReadonlyMap<number, string> = new Map([
  [TokenType.EQUALS, EQUALS],
  [TokenType.NOT_EQUALS, '_!=_'],
  [TokenType.IN, '@in'],
  [TokenType.LESS, '_<_'],
  [TokenType.LESS_EQUALS, '_<=_'],
  [TokenType.GREATER_EQUALS, '_>=_'],
  [TokenType.GREATER, '_>_'],
]);

export const CALCULATIONS: ReadonlyMap<number, string> = new Map([
  [TokenType.STAR, '_*_'],
  [TokenType.SLASH, '_/_'],
  [TokenType.PERCENT, '_%_'],
  [TokenType.PLUS, ADD],
  [TokenType.MINUS, '_-_'],
]);
