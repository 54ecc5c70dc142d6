/**
 * The answer of a webhook: decoded as the reference server decodes it, and checked to be an answer to the question.
 */
import * as z from 'zod';
import { type ReviewType, typeIn, unreadableReview } from '../../kinds/review-answer.js';
import { parseApiVersion, printGvk } from '../../meta/gvk.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { objectFromZod } from '../../schema/from-zod.js';
import { bytes, hint, int32, int64, namedString, optional, pointer, struct } from '../../schema/hints.js';
import type { ObjectNode } from '../../schema/structural.js';
import { once } from '../../schema/type.js';
import { quote } from '../../text/go/go-text.js';
import { decodeBase64Text } from '../../util/base64.js';
import type { HookType } from './hooks.js';
import type { Review } from './review.js';

/** A Status as a webhook gives it: nothing of it is sure to be there, or to make sense. */
export interface GivenStatus {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly code?: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly status: GivenStatus | undefined;
  /** The text of a JSON Patch; empty: none. */
  readonly patch: string;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** It is no review at all: as bad as no answer. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/** It is a review, but no answer to the question. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/** Throws {@link UnreadableAnswer} or {@link WrongAnswer}. */
export function verdictIn(answer: unknown, asked: Review, type: HookType): Verdict {
  const expected: ReviewType = { apiVersion: asked.apiVersion, kind: 'AdmissionReview' };
  const unreadable = unreadableReview(answer, expected);
  if (unreadable !== undefined) throw new UnreadableAnswer(unreadable);
  const isFirst = asked.apiVersion.endsWith('/v1');
  const response = responseIn(answer, isFirst ? 'v1' : 'v1beta1');
  if (response === undefined) throw new WrongAnswer('webhook response was absent');
  const { allowed, status, patch = '', patchType, auditAnnotations = {}, warnings = [] } = response;
  const verdict = { allowed, status, auditAnnotations, warnings };
  // The older review never had to prove that it is an answer, nor to say what its patch is.
  if (!isFirst) {
    const text = type === 'mutating' ? textOf(patch) : '';
    return { ...verdict, patch: text, patchType: text === '' ? '' : JSON_PATCH };
  }
  const problem = wrongAnswer(response, typeIn(answer), { uid: asked.uid, expected, type });
  if (problem !== undefined) throw new WrongAnswer(problem);
  return { ...verdict, patch: textOf(patch), patchType: patchType ?? '' };
}

export const JSON_PATCH = 'JSONPatch';

function textOf(patch: string): string {
  return patch === '' ? '' : decodeBase64Text(patch);
}

function wrongAnswer(
  { uid, patch = '', patchType }: Response,
  said: ReviewType,
  asked: { readonly uid: string; readonly expected: ReviewType; readonly type: HookType },
): string | undefined {
  if (uid !== asked.uid) return `expected response.uid=${quote(asked.uid)}, got ${quote(uid)}`;
  const { expected } = asked;
  if (said.apiVersion !== expected.apiVersion || said.kind !== expected.kind) {
    return `expected webhook response of ${printType(expected)}, got ${printType(said)}`;
  }
  if (asked.type === 'validating') {
    if (patch !== '') return 'validating webhook may not return response.patch';
    return patchType === undefined ? undefined : 'validating webhook may not return response.patchType';
  }
  if (patch !== '' && patchType === undefined) return 'webhook returned response.patch but not response.patchType';
  if (patch === '' && patchType !== undefined) return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function printType({ apiVersion, kind }: ReviewType): string {
  return printGvk({ group: '', version: '', ...parseApiVersion(apiVersion), kind });
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: GivenStatus;
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

function responseIn(answer: unknown, version: 'v1' | 'v1beta1'): Response | undefined {
  try {
    const { value } = decode(REVIEWS[version](), { value: answer ?? {} });
    return value['response'] as Response | undefined;
  } catch (error) {
    if (error instanceof DecodeError) throw new UnreadableAnswer(error.message);
    throw error;
  }
}

const text = () => optional(z.string());

const statusCause = () => struct('StatusCause', { reason: text(), message: text(), field: text() });

const statusDetails = () =>
  struct('StatusDetails', {
    name: text(),
    group: text(),
    kind: text(),
    uid: optional(namedString('types.UID')),
    causes: optional(z.array(statusCause())),
    retryAfterSeconds: optional(int32()),
  });

const listMeta = () =>
  struct('ListMeta', {
    selfLink: text(),
    resourceVersion: text(),
    continue: text(),
    remainingItemCount: pointer(int64()),
  });

const status = () =>
  struct('Status', {
    kind: text(),
    apiVersion: text(),
    metadata: optional(listMeta()),
    status: text(),
    message: text(),
    reason: optional(namedString('v1.StatusReason')),
    details: pointer(statusDetails()),
    code: optional(int32()),
  });

const reviewIn = (version: string) =>
  once((): ObjectNode => {
    const fields = struct('AdmissionResponse', {
      uid: namedString('types.UID'),
      allowed: z.boolean(),
      status: pointer(status()),
      patch: optional(bytes()),
      patchType: pointer(namedString(`${version}.PatchType`)),
      auditAnnotations: optional(z.record(z.string(), z.string())),
      warnings: optional(z.array(z.string())),
    });
    const response = hint(fields, { goType: `${version}.AdmissionResponse` });
    const review = { kind: text(), apiVersion: text(), response: pointer(response) };
    return objectFromZod(struct('AdmissionReview', review));
  });

const REVIEWS = { v1: reviewIn('v1'), v1beta1: reviewIn('v1beta1') } as const;
