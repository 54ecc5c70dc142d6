/**
 * The access review kinds: whether a user may perform an action. They are computed and not stored.
 * spec: What the service does
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import type { DraftObject } from '../../../meta/object.js';
import type { User } from '../../../protocol/request.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type LocalSubjectAccessReviewKind,
  type LocalSubjectAccessReviewObject,
  localSubjectAccessReviewBase,
  type NonResourceAttributes,
  type ResourceAttributes,
  type SelfSubjectAccessReviewKind,
  type SelfSubjectAccessReviewObject,
  type SubjectAccessReviewKind,
  type SubjectAccessReviewObject,
  type SubjectAccessReviewSpec,
  type SubjectAccessReviewStatus,
  selfSubjectAccessReviewBase,
  subjectAccessReviewBase,
} from '../../generated/authorization-v1.js';
import type { StrategyContext } from '../../kind.js';
import { goSyntaxObjectMeta } from '../../shared/go-syntax.js';
import { readSelectors, selectorProblems } from './selectors.js';

export interface SubjectAccessReview extends SubjectAccessReviewObject {}
export interface LocalSubjectAccessReview extends LocalSubjectAccessReviewObject {}

export interface SelfSubjectAccessReview extends SelfSubjectAccessReviewObject {}

export const SubjectAccessReview: SubjectAccessReviewKind<SubjectAccessReview> = defineBuiltIn({
  ...subjectAccessReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, context) {
      const { spec } = draft;
      refuse([...subjectProblems(spec), ...metadataProblems(draft, 'must be empty')], context);
      return answered(draft, subjectOf(spec), context);
    },
  },
});

export const SelfSubjectAccessReview: SelfSubjectAccessReviewKind<SelfSubjectAccessReview> = defineBuiltIn({
  ...selfSubjectAccessReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, context) {
      const { spec } = draft;
      const problems = [...attributesProblems(spec), ...selectorProblems(spec.resourceAttributes)];
      refuse([...problems, ...metadataProblems(draft, 'must be empty')], context);
      return answered(draft, context.user, context);
    },
  },
});

export const LocalSubjectAccessReview: LocalSubjectAccessReviewKind<LocalSubjectAccessReview> = defineBuiltIn({
  ...localSubjectAccessReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, context) {
      const { spec } = draft;
      const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
      const problems = subjectProblems(spec);
      append(problems, metadataProblems(draft, 'must be empty except for namespace'));
      if (resource !== undefined && (resource.namespace ?? '') !== context.namespace) {
        const detail = 'must match metadata.namespace';
        problems.push(invalid('spec.resourceAttributes.namespace', resource.namespace ?? '', detail));
      }
      if (other !== undefined) {
        problems.push(invalid('spec.nonResourceAttributes', dumpOther(other), 'disallowed on this kind of request'));
      }
      refuse(problems, context);
      return answered(draft, subjectOf(spec), context);
    },
  },
});

/** Throws 422 if there are errors. The reference server's message has no kind here. */
export function refuse(problems: readonly FieldError[], { dialect }: StrategyContext): void {
  if (problems.length === 0) return;
  throw errors.invalid({ group: dialect.group(serviceGroup('authorization')), kind: '' }, '', problems);
}

function dumpOther({ path = '', verb = '' }: NonResourceAttributes) {
  return verbatim(`authorization.NonResourceAttributes{Path:${quote(path)}, Verb:${quote(verb)}}`);
}

function subjectProblems(spec: SubjectAccessReviewSpec): FieldError[] {
  const problems = attributesProblems(spec);
  if (!spec.user && (spec.groups ?? []).length === 0) {
    problems.push(invalid('spec.user', '', 'at least one of user or group must be specified'));
  }
  return [...problems, ...selectorProblems(spec.resourceAttributes)];
}

function metadataProblems({ metadata }: DraftObject, detail: string): FieldError[] {
  const { name, generateName, labels, annotations, ownerReferences, finalizers } = metadata;
  const given = [name, generateName].some(Boolean) || [labels, annotations, ownerReferences, finalizers].some(hasAny);
  return given ? [invalid('metadata', goSyntaxObjectMeta(metadata), detail)] : [];
}

function hasAny(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}

function subjectOf({ user = '', uid, groups, extra }: SubjectAccessReviewSpec): User {
  return {
    user,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}

interface Asked {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

function answered(draft: DraftObject, user: User, { access }: StrategyContext): DraftObject {
  const { resourceAttributes: resource, nonResourceAttributes: other } = draft['spec'] as Asked;
  const { errors: unread, ...selectors } = readSelectors(resource ?? {});
  const { allowed, denied, reason, error } = access.decide(
    user,
    resource === undefined
      ? { type: 'path', path: other?.path ?? '', verb: other?.verb ?? '' }
      : {
          type: 'resource',
          verb: resource.verb ?? '',
          group: resource.group ?? '',
          version: resource.version || '*',
          resource: resource.resource ?? '',
          subresource: resource.subresource ?? '',
          namespace: resource.namespace ?? '',
          name: resource.name ?? '',
          ...selectors,
        },
  );
  const evaluationError = [...(error === undefined ? [] : [error]), ...unread].join('; ');
  draft['status'] = {
    allowed,
    ...(denied === true ? { denied } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  } satisfies SubjectAccessReviewStatus;
  return draft;
}

/** Requires exactly one of resource and non-resource attributes. */
function attributesProblems(spec: {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}): FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  const problems: FieldError[] = [];
  if (resource !== undefined && other !== undefined) {
    const { path = '', verb = '' } = other;
    const dump = verbatim(`authorization.NonResourceAttributes{Path:${quote(path)}, Verb:${quote(verb)}}`);
    problems.push(
      invalid('spec.nonResourceAttributes', dump, 'cannot be specified in combination with resourceAttributes'),
    );
  }
  if (resource === undefined && other === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    problems.push(invalid('spec.resourceAttributes', 'null', detail));
  }
  return problems;
}
