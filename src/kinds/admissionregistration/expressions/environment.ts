/**
 * The CEL environments of policies and webhooks: the API server's libraries and the variables of a request. An
 * environment is built once for each combination of options and shared; only `variables` belong to one policy.
 */
import {
  AUTHORIZER_TYPE,
  apiServerEnvironment,
  DYN,
  type Environment,
  JSON_PATCHES,
  RESOURCE_CHECK_TYPE,
  storedEnvironment,
} from '../../../cel/index.js';
import { DECLARED_TYPES, NAMESPACE_TYPE, REQUEST_TYPE } from './declared-types.js';
import { PATCH_TYPES } from './patch-types.js';
import { VARIABLES_TYPE, type VariableTypes } from './variable-types.js';

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
  const base = stored === true ? storedEnvironment() : apiServerEnvironment();
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
