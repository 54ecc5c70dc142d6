/**
 * Authorization checks in expressions: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 * The evaluating code passes a {@link CelAuthorizer} as variable value: `authorizerValue(authorizer)` for `authorizer`,
 * `resourceAuthorizerValue` for `authorizer.requestResource`.
 */
import { expressionType } from '../../meta/dialect.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, type HasValues, type ObjectType, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { declare, member, memberFunction, noSuchOverload } from './declare.js';

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

/** The authorizer and the service account of a check. */
type CheckContext = { readonly authorizer: CelAuthorizer } & Pick<AuthorizationCheck, 'serviceAccount'>;

export const AUTHORIZER_TYPE = authorizationType<CheckContext>('Authorizer');
export const PATH_CHECK_TYPE = authorizationType<CheckContext & { readonly check: PathCheck }>('PathCheck');
export const GROUP_CHECK_TYPE = authorizationType<CheckContext & { readonly group: string }>('GroupCheck');
export const RESOURCE_CHECK_TYPE = authorizationType<CheckContext & { readonly check: ResourceCheck }>('ResourceCheck');
export const DECISION_TYPE = authorizationType<AuthorizationDecision>('Decision');

type AuthorizationType<Content> = ObjectType & HasValues<AuthorizationValue<Content>>;

function authorizationType<Content>(name: string): AuthorizationType<Content> {
  return objectType(expressionType(`authorization.${name}`));
}

/** The value of the variable `authorizer`. */
export function authorizerValue(authorizer: CelAuthorizer): CelOpaque {
  return new AuthorizationValue(AUTHORIZER_TYPE, { authorizer });
}

/** The value of `authorizer.requestResource`: a check of the requested resource. */
export function resourceAuthorizerValue(
  authorizer: CelAuthorizer,
  request: Partial<ResourceCheck> & Pick<ResourceCheck, 'group' | 'resource'>,
): CelOpaque {
  const check = { ...resourceCheck(request.group, request.resource), ...request };
  return new AuthorizationValue(RESOURCE_CHECK_TYPE, { authorizer, check });
}

/** A value of this library. Values cannot be compared, not even with themselves. */
class AuthorizationValue<Content> extends CelOpaque {
  override readonly goTypeName: string;
  constructor(
    readonly type: AuthorizationType<Content>,
    readonly content: Content,
  ) {
    super();
    const name = type.name.slice(type.name.lastIndexOf('.') + 1);
    this.goTypeName = `library.${name.charAt(0).toLowerCase()}${name.slice(1)}Val`;
  }
  equals(): boolean {
    throw noSuchOverload();
  }
}

export const AUTHORIZERS: Library = {
  name: 'authorizer',
  functions: [
    memberFunction('path', 'authorizer_path', [AUTHORIZER_TYPE, STRING], PATH_CHECK_TYPE, ({ content }, path) => {
      const check: PathCheck = { type: 'path', path: notBlank('path', path) };
      return new AuthorizationValue(PATH_CHECK_TYPE, { ...content, check });
    }),
    memberFunction(
      'group',
      'authorizer_group',
      [AUTHORIZER_TYPE, STRING],
      GROUP_CHECK_TYPE,
      ({ content }, group) => new AuthorizationValue(GROUP_CHECK_TYPE, { ...content, group }),
    ),
    memberFunction(
      'serviceAccount',
      'authorizer_serviceaccount',
      [AUTHORIZER_TYPE, STRING, STRING],
      AUTHORIZER_TYPE,
      ({ content }, namespace, name) => {
        if (dnsSubdomainProblems(name).length > 0) throw new CelError('Invalid service account name');
        if (dnsLabelProblems(namespace).length > 0) throw new CelError('Invalid service account namespace');
        return new AuthorizationValue(AUTHORIZER_TYPE, { ...content, serviceAccount: { namespace, name } });
      },
    ),
    memberFunction(
      'resource',
      'groupcheck_resource',
      [GROUP_CHECK_TYPE, STRING],
      RESOURCE_CHECK_TYPE,
      ({ content: { group, ...context } }, resource) =>
        new AuthorizationValue(RESOURCE_CHECK_TYPE, {
          ...context,
          check: resourceCheck(group, notBlank('resource', resource)),
        }),
    ),
    fieldSetter('subresource', 'resourcecheck_subresource'),
    fieldSetter('namespace', 'resourcecheck_namespace'),
    fieldSetter('name', 'resourcecheck_name'),
    declare(
      'check',
      member('pathcheck_check', [PATH_CHECK_TYPE, STRING], DECISION_TYPE, decide),
      member('resourcecheck_check', [RESOURCE_CHECK_TYPE, STRING], DECISION_TYPE, decide),
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

/** A function that sets one field of a resource check. The last call wins. */
function fieldSetter(name: Exclude<keyof ResourceCheck, 'type'>, id: string): FunctionDeclaration {
  return memberFunction(name, id, [RESOURCE_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE, ({ content }, text) => {
    const check = { ...content.check, [name]: text };
    return new AuthorizationValue(RESOURCE_CHECK_TYPE, { ...content, check });
  });
}

function decide(
  { content }: AuthorizationValue<CheckContext & { readonly check: PathCheck | ResourceCheck }>,
  verb: string,
): CelValue {
  const { authorizer, check, ...subject } = content;
  return new AuthorizationValue(DECISION_TYPE, authorizer.authorize({ ...check, ...subject, verb }));
}

function decisionField(
  name: string,
  result: CelType,
  read: (decision: AuthorizationDecision) => CelValue,
): FunctionDeclaration {
  return memberFunction(name, `decision_${name}`, [DECISION_TYPE], result, ({ content }) => read(content));
}
