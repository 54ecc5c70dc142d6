/**
 * The type of `variables` in a policy: an object with a field for each variable. It grows while the variables are
 * compiled one after the other, so that each can use the ones before it.
 */
import { type CelType, type CelValue, DYN, listOf, mapOf, objectType, type TypeProvider } from '../../../cel/index.js';
import { expressionType } from '../../../meta/dialect.js';
import { unknownType } from './declared-types.js';

/** The object type of `variables`. */
export const VARIABLES_TYPE = objectType(expressionType('variables'));

/** The fields of `variables` in one policy. */
export class VariableTypes implements TypeProvider {
  readonly #fields = new Map<string, CelType>();

  /** Adds a variable. `type` is undefined if its expression does not compile; the variable is then dynamic. */
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

/** Objects and library values lose their type in a variable. */
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
