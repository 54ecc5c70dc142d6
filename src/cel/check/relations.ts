/** How two types stand to each other when neither has anything left to find out; see `unify.ts` for when it has. */
import type { CelType } from '../types.js';
import { typeName, typeParams } from '../types.js';

/** The kind that decides what may be done with a value; one that may be null is of the kind it is otherwise. */
export function kindOf(type: CelType): Exclude<CelType['kind'], 'wrapper'> {
  return type.kind === 'wrapper' ? type.of.kind : type.kind;
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isDynOrError(type: CelType): boolean {
  return isDyn(type) || type.kind === 'error';
}

/** What an optional value holds; undefined for other types. */
export function optionalValue(type: CelType): CelType | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined;
}

/** The same in all parts. Whether a primitive may be null makes no difference. */
export function sameType(left: CelType, right: CelType): boolean {
  return matches(left, right, true);
}

/** The same but for the names of type parameters. */
export function equivalentType(left: CelType, right: CelType): boolean {
  return matches(left, right, false);
}

function matches(left: CelType, right: CelType, paramNames: boolean): boolean {
  if (left === right) return true;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  if ((paramNames || kind !== 'param') && typeName(left) !== typeName(right)) return false;
  const lefts = typeParams(left);
  const rights = typeParams(right);
  return (
    lefts.length === rights.length && lefts.every((part, index) => matches(part, rights[index] as CelType, paramNames))
  );
}

/** Whether a value of a type may stand where another type is declared. */
export function accepts(declared: CelType, given: CelType): boolean {
  if (declared.kind === 'wrapper') return given.kind === 'null' || accepts(declared.of, given);
  if (declared === given || isDyn(declared) || declared.kind === 'param') return true;
  if (declared.kind !== kindOf(given) || typeName(declared) !== typeName(given)) return false;
  const declaredParts = typeParams(declared);
  const givenParts = typeParams(given);
  return (
    declaredParts.length === givenParts.length &&
    declaredParts.every((part, index) => accepts(part, givenParts[index] as CelType))
  );
}

/** Whether null may stand where a type is expected. */
export function acceptsNull(type: CelType): boolean {
  switch (type.kind) {
    case 'opaque':
    case 'object':
    case 'any':
    case 'duration':
    case 'timestamp':
    case 'dyn':
    case 'param':
    case 'null':
    case 'wrapper':
      return true;
    default:
      return false;
  }
}

/** The more general of two types that are known to fit. */
export function mostGeneral(left: CelType, right: CelType): CelType {
  return atLeastAsGeneral(left, right) ? left : right;
}

function atLeastAsGeneral(left: CelType, right: CelType): boolean {
  if (left === right || isDyn(left) || left.kind === 'param') return true;
  if (isDyn(right) || right.kind === 'param') return false;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  switch (kind) {
    case 'type':
      return true;
    case 'opaque':
    case 'list':
    case 'map': {
      const rights = typeParams(right);
      const lefts = typeParams(left);
      return (
        typeName(left) === typeName(right) &&
        lefts.length === rights.length &&
        lefts.every((part, index) => atLeastAsGeneral(part, rights[index] as CelType))
      );
    }
    default:
      return sameType(left, right);
  }
}
