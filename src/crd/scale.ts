/**
 * The scale subresource of custom resources: three JSON paths into an object, read and written as a Scale, and the
 * validation of the values at these paths.
 */

import { Scale } from '../kinds/autoscaling/v1/scale.js';
import type { Column } from '../kinds/columns.js';
import { nameColumn } from '../kinds/shared/common-columns.js';
import type { ScalePaths, SubresourceView } from '../kinds/subresource.js';
import { errors } from '../meta/errors.js';
import type { FieldError } from '../meta/field-error.js';
import { invalid } from '../meta/field-error.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { quote } from '../text/go/go-text.js';
import { goType, printGoValue } from '../text/go/go-value.js';
import type { MutableRecord } from '../util/json.js';
import { isRecord, MAX_DEPTH, setOwn } from '../util/json.js';
import { once } from '../util/once.js';
import { jsonKind } from './value/json-kind.js';

/**
 * Marks an absent replicas field. A Scale cannot tell an absent field from 0, so a view that is read for an update uses
 * this number, which no client sends.
 */
const NOT_SET = -(2 ** 31);

/** The printer columns have the names of other Scale kinds, but other types. */
const COLUMNS = once((): readonly Column[] =>
  (Scale.columns ?? []).map((column) => {
    if (column.name === 'Name') return nameColumn;
    return column.name === 'Age' ? { ...column, type: 'date' } : column;
  }),
);

/**
 * A scale subresource with custom paths.
 *
 * @example
 * subresources: { scale: scaleAt({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }) }
 *
 * @__NO_SIDE_EFFECTS__
 */
export function scaleAt(paths: ScalePaths): SubresourceView {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths;
  const replicasPath = stepsOf(specReplicasPath);
  return Object.freeze({
    type: 'view' as const,
    verbs: ['get', 'update', 'patch'] as const,
    kind: Scale,
    columns: COLUMNS(),
    replicasPath,
    paths,
    read(live: ApiObject, _context: unknown, purpose: 'show' | 'change' = 'show'): DraftObject {
      const replicas = integerAt(specReplicasPath, live) ?? NOT_SET;
      if (replicas === NOT_SET && purpose === 'show') {
        throw errors.internal(`the spec replicas field ${quote(specReplicasPath)} does not exist`);
      }
      const selector = labelSelectorPath === undefined ? undefined : followPath(labelSelectorPath, live)?.value;
      const { name, namespace, uid, resourceVersion, creationTimestamp } = live.metadata;
      return {
        kind: '',
        apiVersion: '',
        metadata: {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          uid,
          resourceVersion,
          creationTimestamp,
        },
        // Zero replicas are omitted on the wire.
        spec: replicas === 0 ? {} : { replicas },
        status: {
          replicas: integerAt(statusReplicasPath, live) ?? 0,
          ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
        },
      } as DraftObject;
    },
    write(view: ApiObject, draft: DraftObject): void {
      const { replicas = 0 } = (view as unknown as Scale).spec;
      if (replicas === NOT_SET) {
        throw errors.badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`);
      }
      // A path that is too deep to be sent in a request body cannot be created by a scale write either.
      if (replicasPath.length > MAX_DEPTH) throw errors.badRequest('json: exceeded max depth');
      setAt(draft, replicasPath, replicas);
    },
  });
}

/** Splits `.spec.replicas` into field names. */
function stepsOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

function integerAt(path: string, object: unknown): number | undefined {
  const value = followPath(path, object)?.value;
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

function setAt(draft: DraftObject, steps: readonly string[], value: number): void {
  let holder: MutableRecord = draft;
  for (const step of steps.slice(0, -1)) {
    const inner = Object.hasOwn(holder, step) ? holder[step] : undefined;
    const next: MutableRecord = isRecord(inner) ? { ...inner } : {};
    setOwn(holder, step, next);
    holder = next;
  }
  setOwn(holder, steps.at(-1) ?? '', value);
}

/** Validates the replicas in the spec. */
export function scaleSpecErrors(paths: ScalePaths, object: unknown): FieldError[] {
  return replicasErrors(paths.specReplicasPath, object);
}

/** Validates the replicas in the status and the selector. */
export function scaleStatusErrors(paths: ScalePaths, object: unknown): FieldError[] {
  const { statusReplicasPath, labelSelectorPath } = paths;
  const found = replicasErrors(statusReplicasPath, object);
  if (labelSelectorPath === undefined) return found;
  const selector = followPath(labelSelectorPath, object);
  if (selector === undefined || typeof selector.value === 'string') return found;
  const detail = selector.problem ?? typeProblem(labelSelectorPath, selector.value, 'string');
  return [...found, invalid(labelSelectorPath, '', detail)];
}

const MAX_REPLICAS = 2_147_483_647;

function replicasErrors(path: string, object: unknown): FieldError[] {
  const replicas = followPath(path, object);
  if (replicas === undefined) return [];
  const { value, problem } = replicas;
  if (problem !== undefined) return [invalid(path, 0, problem)];
  if (jsonKind(value) !== 'integer') return [invalid(path, 0, typeProblem(path, value, 'int64'))];
  const count = value as number | bigint;
  if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
  return count > MAX_REPLICAS ? [invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

interface PathResult {
  readonly value?: unknown;
  /** The reason why the path cannot be followed: a value on it is not an object. */
  readonly problem?: string;
}

function followPath(path: string, object: unknown): PathResult | undefined {
  const steps = stepsOf(path);
  let value = object;
  for (const [index, step] of steps.entries()) {
    if (value === null) return undefined;
    if (!isRecord(value)) {
      return { problem: typeProblem(steps.slice(0, index + 1).join('.'), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return { value };
}

function typeProblem(path: string, value: unknown, wanted: string): string {
  const type = value === null ? '<nil>' : goType(value);
  return `.${stepsOf(path).join('.')} accessor error: ${printGoValue(value)} is of the type ${type}, expected ${wanted}`;
}

/** The scale subresource with the usual paths `.spec.replicas`, `.status.replicas` and `.status.selector`. */
export const scale: SubresourceView = /* @__PURE__ */ scaleAt({
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
});
