/**
 * Types of errors. Files with this suffix are only compiled: `npm run typecheck` checks every line, and a
 * `@ts-expect-error` fails as soon as the next line compiles.
 */
import { expectTypeOf } from 'vitest';
import { errors, StatusError } from '../../src/meta/errors.js';
import type { Status, StatusReason } from '../../src/meta/status.js';

declare const caught: unknown;

if (StatusError.is(caught, 'NotFound')) {
  expectTypeOf(caught).toEqualTypeOf<StatusError>();
  expectTypeOf(caught.status).toEqualTypeOf<Status>();
  expectTypeOf(caught.reason).toEqualTypeOf<StatusReason | undefined>();
}

// @ts-expect-error an unknown reason
StatusError.is(caught, 'NotFond');

// @ts-expect-error a resource requires its group, even if it is ''
errors.notFound({ resource: 'configmaps' }, 'settings');

// @ts-expect-error errors are read-only
errors.gone('too old').status.code = 200;
