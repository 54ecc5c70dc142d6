/**
 * The objects that a line names: `pods web db`, `pod/web svc/web`, `pods,svc`, `deployments.apps/web`.
 */
import type { CommandContext, Named } from './command.js';
import { type Json, listAt, textAt } from './json.js';
import { pathOf, type Resource } from './resources.js';
import { LineError } from './split-words.js';

export interface Targets {
  /** In the order of the line. */
  readonly resources: readonly Resource[];
  /** Undefined means all objects. */
  readonly named: readonly Named[] | undefined;
}

const NO_TYPE =
  'error: You must specify the type of resource to get. Use "api-resources" for a complete list of supported resources.';

/** Parses `TYPE [NAME…]` or `TYPE/NAME…`. */
export async function targetsOf(context: CommandContext, args: readonly string[] = context.args): Promise<Targets> {
  const [first, ...rest] = args;
  if (first === undefined) throw new LineError(NO_TYPE);
  const resources = await context.resources();
  if (first.includes('/')) {
    const named = args.map((word) => {
      const [type = '', name = '', ...more] = word.split('/');
      if (name === '' || more.length > 0) {
        throw new LineError(
          'error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form',
        );
      }
      return { resource: resources.one(type), name };
    });
    return { resources: [...new Set(named.map(({ resource }) => resource))], named };
  }
  const kinds = first.split(',').flatMap((word) => resources.named(word));
  if (rest.length === 0) return { resources: kinds, named: undefined };
  if (rest.some((word) => word.includes('/'))) {
    throw new LineError(
      'error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form',
    );
  }
  return { resources: kinds, named: kinds.flatMap((resource) => rest.map((name) => ({ resource, name }))) };
}

/** Parses arguments that must name exactly one object. */
export async function targetOf(context: CommandContext, args: readonly string[] = context.args): Promise<Named> {
  const { named } = await targetsOf(context, args);
  const [one, ...more] = named ?? [];
  if (one === undefined) throw new LineError('error: resource(s) were provided, but no name was specified');
  if (more.length > 0) throw new LineError('error: only one resource may be given');
  return one;
}

/** The URL path of an object in the line's namespace. */
export function placeOf(context: CommandContext, { resource, name }: Named, subresource?: string): string {
  return pathOf(resource, { namespace: context.namespace, name, subresource });
}

/** Reads objects by name, by selector, or all of them. */
export async function objectsOf(context: CommandContext, targets: Targets): Promise<readonly Found[]> {
  if (targets.named !== undefined) {
    const found: Found[] = [];
    for (const target of targets.named) {
      found.push({ ...target, object: await context.server.json({ path: placeOf(context, target) }) });
    }
    return found;
  }
  const everywhere = context.flags.isOn('all-namespaces');
  const found: Found[] = [];
  for (const resource of targets.resources) {
    const list = await context.server.json({
      path: pathOf(resource, { namespace: everywhere ? undefined : context.namespace }),
      query: selectors(context),
    });
    for (const item of listAt(list, 'items')) {
      const object = { apiVersion: textAt(list, 'apiVersion'), kind: resource.kind, ...(item as Json) };
      found.push({ resource, name: textAt(object, 'metadata', 'name'), object });
    }
  }
  return found;
}

export interface Found extends Named {
  readonly object: Json;
}

export function selectors({ flags }: CommandContext): Record<string, string | undefined> {
  return { labelSelector: flags.text('selector'), fieldSelector: flags.text('field-selector') };
}

/** The namespace of an object, if its kind is namespaced. */
export function namespaceOf(object: Json): string | undefined {
  const namespace = textAt(object, 'metadata', 'namespace');
  return namespace === '' ? undefined : namespace;
}
