/**
 * The CEL environments of policies and webhooks: the API server's libraries, the variables of a request and the type of
 * a policy's `variables`. An environment is built once for each combination of options and shared; only `variables`
 * belong to one policy.
 */
import {
  AUTHORIZER_TYPE,
  type CelType,
  type CelValue,
  DYN,
  type Environment,
  JSON_PATCHES,
  listOf,
  mapOf,
  newExpressionsEnvironment,
  objectType,
  RESOURCE_CHECK_TYPE,
  storedExpressionsEnvironment,
  type TypeProvider,
} from '../../../cel/index.js';
import { expressionType } from '../../../meta/dialect.js';
import { DECLARED_TYPES, NAMESPACE_TYPE, REQUEST_TYPE, unknownType } from './declared-types.js';
import { PATCH_TYPES } from './patch-types.js';

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

/** The variables and types of an expression besides those that all expressions have. */
export interface ExpressionScope {
  /** Declares `params`, which may be null. */
  readonly params?: boolean;
  /** Declares `authorizer` and `authorizer.requestResource`. */
  readonly authorizer?: boolean;
  /** Declares `Object{}` and `JSONPatch{}`, the types of patches. */
  readonly patches?: boolean;
  /** The expression is stored already and may use features that new expressions may not. */
  readonly stored?: boolean;
}

const known = new Map<string, Environment>();
const composed = new WeakMap<VariableTypes, Map<Environment, Environment>>();

/** The environment of an expression. `variables` are the variables of its policy, if it may use them. */
export function admissionEnvironment(scope: ExpressionScope, variables?: VariableTypes): Environment {
  const key = [scope.params, scope.authorizer, scope.patches, scope.stored].map(Number).join();
  let environment = known.get(key);
  if (environment === undefined) {
    environment = environmentFor(scope);
    known.set(key, environment);
  }
  return variables === undefined ? environment : withVariables(environment, variables);
}

function environmentFor({ params, authorizer, patches, stored }: ExpressionScope): Environment {
  const base = stored === true ? storedExpressionsEnvironment() : newExpressionsEnvironment();
  const environment = base.extend({
    variables: {
      object: DYN,
      oldObject: DYN,
      namespaceObject: NAMESPACE_TYPE,
      request: REQUEST_TYPE,
      ...(params === true ? { params: DYN } : {}),
      ...(authorizer === true
        ? { authorizer: AUTHORIZER_TYPE, 'authorizer.requestResource': RESOURCE_CHECK_TYPE }
        : {}),
    },
    provider: DECLARED_TYPES,
  });
  return patches === true ? environment.extend({ libraries: [JSON_PATCHES], provider: PATCH_TYPES }) : environment;
}

function withVariables(environment: Environment, variables: VariableTypes): Environment {
  let extended = composed.get(variables);
  if (extended === undefined) {
    extended = new Map();
    composed.set(variables, extended);
  }
  let own = extended.get(environment);
  if (own === undefined) {
    own = environment.extend({ variables: { variables: VARIABLES_TYPE }, provider: variables });
    extended.set(environment, own);
  }
  return own;
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
