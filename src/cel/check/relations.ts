/** Relations between types without substitutions; `unify.ts` handles types with type parameters. */
import { type CelType, typeName, typeParams } from '../types.js';

/** The kind of a type, ignoring nullability. */
export function kindOf(type: CelType): Exclude<CelType['kind'], 'wrapper'> {
  return type.kind === 'wrapper' ? type.of.kind : type.kind;
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isDynOrError(type: CelType): boolean {
  return isDyn(type) || type.kind === 'error';
}

/** The element type of an optional type; undefined for other types. */
export function optionalValue(type: CelType): CelType | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined;
}

/** Whether two types are equal, ignoring nullability. */
export function sameType(left: CelType, right: CelType): boolean {
  return matches(left, right, true);
}

/** Whether two types are equal, ignoring nullability and the names of type parameters. */
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

/** Whether a value of type `given` may be used where `declared` is expected. */
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

/** Whether null may be used where the type is expected. */
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

/** The more general of two types that match. */
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
