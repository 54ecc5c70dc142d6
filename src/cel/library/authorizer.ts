/**
 * Authorization checks in expressions: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 * The evaluating code passes a {@link CelAuthorizer} as variable value: `authorizerValue(authorizer)` for `authorizer`,
 * `resourceAuthorizerValue` for `authorizer.requestResource`.
 */
import { expressionType } from '../../meta/dialect.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, type ObjectType, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { asInstance, asString, declare, member, noSuchOverload } from './declare.js';

/**
 * Decides authorization checks of expressions. It is called during evaluation and must answer synchronously. It does
 * not throw: errors are part of the decision.
 */
export interface CelAuthorizer {
  authorize(check: AuthorizationCheck): AuthorizationDecision;
}

export type AuthorizationCheck = (PathCheck | ResourceCheck) & {
  /** An API verb, or an HTTP method for paths. */
  readonly verb: string;
  /** The service account to check; absent: the user who sent the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
};

export interface PathCheck {
  readonly type: 'path';
  readonly path: string;
}

/** Unspecified fields are empty strings. Selectors are unparsed; an invalid one selects everything. */
export interface ResourceCheck {
  readonly type: 'resource';
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface AuthorizationDecision {
  /** False also if no authorizer has an opinion. */
  readonly allowed: boolean;
  readonly reason?: string;
  /** The evaluation error of the authorizer. */
  readonly error?: string;
}

export const AUTHORIZER_TYPE = authorizationType('Authorizer');
export const PATH_CHECK_TYPE = authorizationType('PathCheck');
export const GROUP_CHECK_TYPE = authorizationType('GroupCheck');
export const RESOURCE_CHECK_TYPE = authorizationType('ResourceCheck');
export const DECISION_TYPE = authorizationType('Decision');

function authorizationType(name: string): ObjectType {
  return objectType(expressionType(`authorization.${name}`));
}

/** The value of the variable `authorizer`. */
export function authorizerValue(authorizer: CelAuthorizer): CelOpaque {
  return new AuthorizerValue({ authorizer });
}

/** The value of `authorizer.requestResource`: a check of the requested resource. */
export function resourceAuthorizerValue(
  authorizer: CelAuthorizer,
  request: Partial<ResourceCheck> & Pick<ResourceCheck, 'group' | 'resource'>,
): CelOpaque {
  return new ResourceCheckValue({ authorizer }, { ...resourceCheck(request.group, request.resource), ...request });
}

/** Values of this library cannot be compared, not even with themselves. */
abstract class Incomparable extends CelOpaque {
  equals(): boolean {
    throw noSuchOverload();
  }
}

/** The authorizer and the service account of a check. */
type CheckContext = { readonly authorizer: CelAuthorizer } & Pick<AuthorizationCheck, 'serviceAccount'>;

class AuthorizerValue extends Incomparable {
  readonly type = AUTHORIZER_TYPE;
  override readonly goTypeName = 'library.authorizerVal';
  constructor(readonly context: CheckContext) {
    super();
  }
}

class PathCheckValue extends Incomparable {
  readonly type = PATH_CHECK_TYPE;
  override readonly goTypeName = 'library.pathCheckVal';
  constructor(
    readonly context: CheckContext,
    readonly check: PathCheck,
  ) {
    super();
  }
}

class GroupCheckValue extends Incomparable {
  readonly type = GROUP_CHECK_TYPE;
  override readonly goTypeName = 'library.groupCheckVal';
  constructor(
    readonly context: CheckContext,
    readonly group: string,
  ) {
    super();
  }
}

class ResourceCheckValue extends Incomparable {
  readonly type = RESOURCE_CHECK_TYPE;
  override readonly goTypeName = 'library.resourceCheckVal';
  constructor(
    readonly context: CheckContext,
    readonly check: ResourceCheck,
  ) {
    super();
  }
}

class DecisionValue extends Incomparable {
  readonly type = DECISION_TYPE;
  override readonly goTypeName = 'library.decisionVal';
  constructor(readonly decision: AuthorizationDecision) {
    super();
  }
}

export const AUTHORIZERS: Library = {
  name: 'authorizer',
  functions: [
    declare(
      'path',
      member('authorizer_path', [AUTHORIZER_TYPE, STRING], PATH_CHECK_TYPE, (value, path) => {
        const { context } = asInstance(AuthorizerValue, value);
        return new PathCheckValue(context, { type: 'path', path: notBlank('path', asString(path)) });
      }),
    ),
    declare(
      'group',
      member(
        'authorizer_group',
        [AUTHORIZER_TYPE, STRING],
        GROUP_CHECK_TYPE,
        (value, group) => new GroupCheckValue(asInstance(AuthorizerValue, value).context, asString(group)),
      ),
    ),
    declare(
      'serviceAccount',
      member(
        'authorizer_serviceaccount',
        [AUTHORIZER_TYPE, STRING, STRING],
        AUTHORIZER_TYPE,
        (value, namespace, name) =>
          forServiceAccount(asInstance(AuthorizerValue, value), asString(namespace), asString(name)),
      ),
    ),
    declare(
      'resource',
      member('groupcheck_resource', [GROUP_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE, (value, resource) => {
        const { context, group } = asInstance(GroupCheckValue, value);
        return new ResourceCheckValue(context, resourceCheck(group, notBlank('resource', asString(resource))));
      }),
    ),
    fieldSetter('subresource', 'resourcecheck_subresource'),
    fieldSetter('namespace', 'resourcecheck_namespace'),
    fieldSetter('name', 'resourcecheck_name'),
    declare(
      'check',
      member('pathcheck_check', [PATH_CHECK_TYPE, STRING], DECISION_TYPE, (value, verb) =>
        decide(asInstance(PathCheckValue, value), asString(verb)),
      ),
      member('resourcecheck_check', [RESOURCE_CHECK_TYPE, STRING], DECISION_TYPE, (value, verb) =>
        decide(asInstance(ResourceCheckValue, value), asString(verb)),
      ),
    ),
    decisionField('errored', BOOL, ({ error }) => error !== undefined),
    decisionField('error', STRING, ({ error }) => error ?? ''),
    decisionField('allowed', BOOL, ({ allowed }) => allowed),
    decisionField('reason', STRING, ({ reason }) => reason ?? ''),
  ],
};

/** A separate library, because it was introduced later. */
export const AUTHORIZER_SELECTORS: Library = {
  name: 'authorizer-selectors',
  functions: [
    fieldSetter('fieldSelector', 'authorizer_fieldselector'),
    fieldSetter('labelSelector', 'authorizer_labelselector'),
  ],
};

function resourceCheck(group: string, resource: string): ResourceCheck {
  const nothing = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
  return { type: 'resource', group, resource, ...nothing };
}

/** White space as Go's unicode.IsSpace defines it, which differs from JavaScript's. */
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

function notBlank(what: string, text: string): string {
  if (BLANK.test(text)) throw new CelError(`${what} must not be empty`);
  return text;
}

function forServiceAccount({ context }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomainProblems(name).length > 0) throw new CelError('Invalid service account name');
  if (dnsLabelProblems(namespace).length > 0) throw new CelError('Invalid service account namespace');
  return new AuthorizerValue({ ...context, serviceAccount: { namespace, name } });
}

/** A function that sets one field of a resource check. The last call wins. */
function fieldSetter(name: Exclude<keyof ResourceCheck, 'type'>, id: string): FunctionDeclaration {
  const call = (value?: CelValue, text?: CelValue) => {
    const { context, check } = asInstance(ResourceCheckValue, value);
    return new ResourceCheckValue(context, { ...check, [name]: asString(text) });
  };
  return declare(name, member(id, [RESOURCE_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE, call));
}

function decide({ context, check }: PathCheckValue | ResourceCheckValue, verb: string): DecisionValue {
  const { authorizer, ...subject } = context;
  return new DecisionValue(authorizer.authorize({ ...check, ...subject, verb }));
}

function decisionField(
  name: string,
  result: CelType,
  read: (decision: AuthorizationDecision) => CelValue,
): FunctionDeclaration {
  const call = (value?: CelValue) => read(asInstance(DecisionValue, value).decision);
  return declare(name, member(`decision_${name}`, [DECISION_TYPE], result, call));
}
