/**
 * Types of the error surface. Files of this name are not run: `npm run typecheck` compiles them, so every line is an
 * assertion, and a `@ts-expect-error` fails as soon as the line below it compiles.
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

// @ts-expect-error a reason is one of the known words
StatusError.is(caught, 'NotFond');

// @ts-expect-error a resource needs its group, even when that is ''
errors.notFound({ resource: 'configmaps' }, 'settings');

// @ts-expect-error what was thrown is not to be changed
errors.gone('too old').status.code = 200;
