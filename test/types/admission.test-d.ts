/**
 * Types of user-defined plugins: what they receive, and what must not compile. Files with this suffix are only
 * compiled.
 */
import { expectTypeOf } from 'vitest';
import { defineAdmission } from '../../src/admission/define.js';
import { ConfigMap } from '../../src/kinds/core/v1/config-map.js';
import { Pod } from '../../src/kinds/core/v1/pod/pod.js';
import type { DraftOf } from '../../src/kinds/kind.js';
import { fieldError } from '../../src/meta/field-error.js';
import type { ApiObject, DeepReadonly, DraftObject } from '../../src/meta/object.js';

defineAdmission({
  name: 'Typed',
  on: ['CREATE', 'UPDATE'],
  kind: Pod,
  mutate(draft, request) {
    expectTypeOf(draft).toEqualTypeOf<DraftOf<typeof Pod>>();
    draft.spec.nodeName = 'a';
    draft.spec.containers.push({ name: 'log', image: 'log:1' });
    // @ts-expect-error a misspelled field
    draft.spec.nodeNme = 'a';
    // @ts-expect-error the server sets this field
    request.object.spec.nodeName = 'a';
  },
  validate(request) {
    expectTypeOf(request.object).toEqualTypeOf<DeepReadonly<Pod>>();
    expectTypeOf(request.operation).toEqualTypeOf<'CREATE' | 'UPDATE'>();
    if (request.operation === 'CREATE') expectTypeOf(request.oldObject).toEqualTypeOf<undefined>();
    else expectTypeOf(request.oldObject).toEqualTypeOf<DeepReadonly<Pod>>();
    // @ts-expect-error the validated object is read-only
    request.object.metadata.labels = {};
    return [fieldError('required', 'metadata.labels[team]')];
  },
});

// Without `on`: CREATE and UPDATE.
defineAdmission({
  name: 'Default',
  kind: ConfigMap,
  validate: async ({ operation, object }) => {
    expectTypeOf(operation).toEqualTypeOf<'CREATE' | 'UPDATE'>();
    return object.data?.['a'] === undefined ? 'it has no a' : undefined;
  },
});

// DELETE has only the live object.
defineAdmission({
  name: 'Keep',
  on: ['DELETE'],
  kind: Pod,
  validate: ({ object, oldObject }) => {
    expectTypeOf(object).toEqualTypeOf<undefined>();
    expectTypeOf(oldObject).toEqualTypeOf<DeepReadonly<Pod>>();
    return ['no'];
  },
});

// Several kinds
defineAdmission({
  name: 'Both',
  kind: [Pod, ConfigMap],
  mutate(draft) {
    expectTypeOf(draft).toEqualTypeOf<DraftOf<typeof Pod> | ConfigMap>();
    draft.metadata.labels = {};
  },
});

// Subresources
defineAdmission({
  name: 'Evictions',
  on: ['CREATE'],
  kind: Pod,
  subresource: 'eviction',
  mutate: (draft) => void expectTypeOf(draft).toEqualTypeOf<DraftObject>(),
  validate: ({ object }) => void expectTypeOf(object).toEqualTypeOf<ApiObject>(),
});
defineAdmission({
  name: 'Statuses',
  kind: Pod,
  subresource: 'status',
  validate: ({ object }) => void expectTypeOf(object).toEqualTypeOf<DeepReadonly<Pod>>(),
});

// @ts-expect-error a kind is a value
defineAdmission({ name: 'Text', kind: 'Pod', validate: () => [] });
// @ts-expect-error an unknown operation
defineAdmission({ name: 'Patch', kind: Pod, on: ['PATCH'], validate: () => [] });
// @ts-expect-error the name is missing
defineAdmission({ kind: Pod, validate: () => [] });
// @ts-expect-error field errors or strings, not both
defineAdmission({ name: 'Mixed', kind: Pod, validate: () => ['a', fieldError('required', 'b')] });
// @ts-expect-error a draft is changed in place, not returned
defineAdmission({ name: 'Returns', kind: Pod, mutate: (draft) => ({ ...draft }) });
