/**
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`: what somebody may do, asked by
 * expressions. The questions are put to a {@link CelAuthorizer}, which whoever evaluates an expression hands over as
 * the value of the variable: `authorizerValue(authorizer)` for `authorizer`, `resourceAuthorizerValue` for
 * `authorizer.requestResource`.
 */
import { expressionType } from '../../meta/dialect.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, type ObjectType, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { declare, instanceOf, member, noSuchOverload, textOf } from './declare.js';

/**
 * Answers what expressions ask. It is called while an expression is evaluated, so it answers at once; whoever has to
 * ask elsewhere asks before. It does not throw: failing is an answer too.
 */
export interface CelAuthorizer {
  authorize(question: AuthorizationQuestion): AuthorizationAnswer;
}

export type AuthorizationQuestion = (PathQuestion | ResourceQuestion) & {
  /** What would be done: a verb of the API, or of HTTP for paths. */
  readonly verb: string;
  /** Who would do it; absent: whoever sent the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
};

export interface PathQuestion {
  readonly type: 'path';
  readonly path: string;
}

/** Texts are empty where nothing was said. Selectors are as they were written; one that cannot be read selects all. */
export interface ResourceQuestion {
  readonly type: 'resource';
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface AuthorizationAnswer {
  /** False also where nobody has an opinion. */
  readonly allowed: boolean;
  readonly reason?: string;
  /** What went wrong while it was decided. */
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

/** The value of `authorizer`. */
export function authorizerValue(authorizer: CelAuthorizer): CelOpaque {
  return new AuthorizerValue({ authorizer });
}

/** The value of `authorizer.requestResource`: a check of what a request is about. */
export function resourceAuthorizerValue(
  authorizer: CelAuthorizer,
  request: Partial<ResourceQuestion> & Pick<ResourceQuestion, 'group' | 'resource'>,
): CelOpaque {
  return new ResourceCheckValue({ authorizer }, { ...anyOf(request.group, request.resource), ...request });
}

/** Nothing of this library can be compared, not even with itself. */
abstract class Incomparable extends CelOpaque {
  equals(): boolean {
    throw noSuchOverload();
  }
}

/** Who is asked, about whom. */
type Asked = { readonly authorizer: CelAuthorizer } & Pick<AuthorizationQuestion, 'serviceAccount'>;

class AuthorizerValue extends Incomparable {
  readonly type = AUTHORIZER_TYPE;
  override readonly referenceClass = 'library.authorizerVal';
  constructor(readonly asked: Asked) {
    super();
  }
}

class PathCheckValue extends Incomparable {
  readonly type = PATH_CHECK_TYPE;
  override readonly referenceClass = 'library.pathCheckVal';
  constructor(
    readonly asked: Asked,
    readonly question: PathQuestion,
  ) {
    super();
  }
}

class GroupCheckValue extends Incomparable {
  readonly type = GROUP_CHECK_TYPE;
  override readonly referenceClass = 'library.groupCheckVal';
  constructor(
    readonly asked: Asked,
    readonly group: string,
  ) {
    super();
  }
}

class ResourceCheckValue extends Incomparable {
  readonly type = RESOURCE_CHECK_TYPE;
  override readonly referenceClass = 'library.resourceCheckVal';
  constructor(
    readonly asked: Asked,
    readonly question: ResourceQuestion,
  ) {
    super();
  }
}

class DecisionValue extends Incomparable {
  readonly type = DECISION_TYPE;
  override readonly referenceClass = 'library.decisionVal';
  constructor(readonly answer: AuthorizationAnswer) {
    super();
  }
}

export const AUTHORIZERS: Library = {
  name: 'authorizer',
  functions: [
    declare(
      'path',
      member('authorizer_path', [AUTHORIZER_TYPE, STRING], PATH_CHECK_TYPE, (value, path) => {
        const { asked } = instanceOf(AuthorizerValue, value);
        return new PathCheckValue(asked, { type: 'path', path: notBlank('path', textOf(path)) });
      }),
    ),
    declare(
      'group',
      member(
        'authorizer_group',
        [AUTHORIZER_TYPE, STRING],
        GROUP_CHECK_TYPE,
        (value, group) => new GroupCheckValue(instanceOf(AuthorizerValue, value).asked, textOf(group)),
      ),
    ),
    declare(
      'serviceAccount',
      member(
        'authorizer_serviceaccount',
        [AUTHORIZER_TYPE, STRING, STRING],
        AUTHORIZER_TYPE,
        (value, namespace, name) =>
          forServiceAccount(instanceOf(AuthorizerValue, value), textOf(namespace), textOf(name)),
      ),
    ),
    declare(
      'resource',
      member('groupcheck_resource', [GROUP_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE, (value, resource) => {
        const { asked, group } = instanceOf(GroupCheckValue, value);
        return new ResourceCheckValue(asked, anyOf(group, notBlank('resource', textOf(resource))));
      }),
    ),
    narrowing('subresource', 'resourcecheck_subresource'),
    narrowing('namespace', 'resourcecheck_namespace'),
    narrowing('name', 'resourcecheck_name'),
    declare(
      'check',
      member('pathcheck_check', [PATH_CHECK_TYPE, STRING], DECISION_TYPE, (value, verb) =>
        decide(instanceOf(PathCheckValue, value), textOf(verb)),
      ),
      member('resourcecheck_check', [RESOURCE_CHECK_TYPE, STRING], DECISION_TYPE, (value, verb) =>
        decide(instanceOf(ResourceCheckValue, value), textOf(verb)),
      ),
    ),
    answered('errored', BOOL, ({ error }) => error !== undefined),
    answered('error', STRING, ({ error }) => error ?? ''),
    answered('allowed', BOOL, ({ allowed }) => allowed),
    answered('reason', STRING, ({ reason }) => reason ?? ''),
  ],
};

/** A library of its own, because it came later. */
export const AUTHORIZER_SELECTORS: Library = {
  name: 'authorizer-selectors',
  functions: [
    narrowing('fieldSelector', 'authorizer_fieldselector'),
    narrowing('labelSelector', 'authorizer_labelselector'),
  ],
};

function anyOf(group: string, resource: string): ResourceQuestion {
  const nothing = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
  return { type: 'resource', group, resource, ...nothing };
}

/** What counts as space is wider than what JavaScript trims in one character, and narrower in another. */
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

function notBlank(what: string, text: string): string {
  if (BLANK.test(text)) throw new CelError(`${what} must not be empty`);
  return text;
}

function forServiceAccount({ asked }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomainProblems(name).length > 0) throw new CelError('Invalid service account name');
  if (dnsLabelProblems(namespace).length > 0) throw new CelError('Invalid service account namespace');
  return new AuthorizerValue({ ...asked, serviceAccount: { namespace, name } });
}

/** Says more about a resource. Said twice, the last one counts. */
function narrowing(name: Exclude<keyof ResourceQuestion, 'type'>, id: string): FunctionDeclaration {
  const call = (value?: CelValue, text?: CelValue) => {
    const { asked, question } = instanceOf(ResourceCheckValue, value);
    return new ResourceCheckValue(asked, { ...question, [name]: textOf(text) });
  };
  return declare(name, member(id, [RESOURCE_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE, call));
}

function decide({ asked, question }: PathCheckValue | ResourceCheckValue, verb: string): DecisionValue {
  const { authorizer, ...who } = asked;
  return new DecisionValue(authorizer.authorize({ ...question, ...who, verb }));
}

function answered(name: string, result: CelType, read: (answer: AuthorizationAnswer) => CelValue): FunctionDeclaration {
  const call = (value?: CelValue) => read(instanceOf(DecisionValue, value).answer);
  return declare(name, member(`decision_${name}`, [DECISION_TYPE], result, call));
}
