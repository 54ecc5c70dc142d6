/**
 * The type of `variables`: an object whose fields are the variables of a policy, each with the type that its expression
 * gives. It grows while the variables are compiled one after the other, so that each sees those before it.
 */
import { type CelType, type CelValue, DYN, listOf, mapOf, objectType, type TypeProvider } from '../../../cel/index.js';
import { expressionType } from '../../../meta/dialect.js';
import { unknownType } from './declared-types.js';

export const VARIABLES_TYPE = objectType(expressionType('variables'));

export class VariableTypes implements TypeProvider {
  readonly #fields = new Map<string, CelType>();

  /** Undefined for a variable whose expression does not compile: nothing is known of its value then. */
  add(name: string, type: CelType | undefined): void {
    this.#fields.set(name, type === undefined ? DYN : remembered(type));
  }

  hasType(name: string): boolean {
    return name === VARIABLES_TYPE.name;
  }

  fieldType(typeName: string, field: string): CelType | undefined {
    return this.hasType(typeName) ? this.#fields.get(field) : undefined;
  }

  fieldNames(typeName: string): readonly string[] {
    return this.hasType(typeName) ? [...this.#fields.keys()] : [];
  }

  construct(typeName: string): CelValue {
    return unknownType(typeName);
  }
}

/** Objects and values of libraries lose their type on the way through a variable. */
function remembered(type: CelType): CelType {
  switch (type.kind) {
    case 'list':
      return listOf(remembered(type.element));
    case 'map':
      return mapOf(remembered(type.key), remembered(type.value));
    case 'object':
    case 'opaque':
    case 'param':
    case 'type':
    case 'wrapper':
    case 'error':
      return DYN;
    default:
      return type;
  }
}
