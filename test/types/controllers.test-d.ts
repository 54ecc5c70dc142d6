/**
 * Types of orchplane/controllers: what reconcile functions receive, and what must not compile. Files with this suffix
 * are only compiled.
 */
import { type DynamicKind, defineKind, status } from 'orchplane';
import {
  type Controller,
  type ControllerContext,
  completes,
  crashLoop,
  defineController,
  type LeaderElection,
  leaderElection,
  readyPods,
  type SharedInformer,
  type Stage,
  stage,
  stages,
  standardControllers,
  watching,
} from 'orchplane/controllers';
import { ConfigMap, Namespace, Pod, Secret } from 'orchplane/kinds';
import { expectTypeOf } from 'vitest';
import * as z from 'zod';

const Site = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  scope: 'Namespaced',
  body: { spec: z.object({ pages: z.array(z.string()) }), status: z.object({ published: z.number() }).optional() },
  subresources: { status },
});
declare const Dynamic: DynamicKind;
declare const context: ControllerContext;

// A controller is typed by its kind.
const sites = defineController({
  name: 'sites',
  kind: Site,
  owns: [ConfigMap],
  watches: [
    watching(Secret, (secret, { informer }) => {
      expectTypeOf(secret.data).toEqualTypeOf<Readonly<Record<string, string>> | undefined>();
      expectTypeOf(informer(Site)).toEqualTypeOf<SharedInformer<typeof Site>>();
      return informer(Site).list(secret.metadata.namespace);
    }),
    watching(Namespace, ({ metadata }) => [{ name: 'home', namespace: metadata.name }, 'team/home']),
    watching(Namespace, () => undefined),
  ],
  where: (site) => site.spec.pages.length > 0,
  finalizer: {
    name: 'example.com/site',
    cleanup: (site) => {
      expectTypeOf(site.spec.pages).toEqualTypeOf<readonly string[]>();
    },
  },
  onError: (error, { object, failures }) => {
    expectTypeOf(error).toEqualTypeOf<unknown>();
    expectTypeOf(object.spec.pages).toEqualTypeOf<readonly string[]>();
    expectTypeOf(failures).toEqualTypeOf<number>();
    return { requeueAfterMs: 1_000 };
  },
  async reconcile(site, { client, informer, owned, event, requeue, now }) {
    expectTypeOf(site.status).toEqualTypeOf<{ readonly published: number } | undefined>();
    expectTypeOf(owned(ConfigMap)[0]?.metadata.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(informer(ConfigMap)).toEqualTypeOf<SharedInformer<typeof ConfigMap>>();
    expectTypeOf(now()).toEqualTypeOf<string>();
    event('Normal', 'Seen', 'hello');
    requeue(site);
    requeue('team/home', 5_000);
    await client.api(Site, site.metadata.namespace).status.edit(site.metadata.name, (draft) => {
      draft.status = { published: 1 };
    });
    // @ts-expect-error objects that were read are read-only
    site.spec.pages.push('x');
    // @ts-expect-error an unknown field
    site.spec.colour;
    // @ts-expect-error the event type is Normal or Warning
    event('Bad', 'Seen', 'hello');
    return { requeueAfterMs: 60_000 };
  },
});
expectTypeOf(sites).toEqualTypeOf<Controller>();

// Objects of run-time kinds have only the common fields.
defineController({
  name: 'dynamic',
  kind: Dynamic,
  reconcile: (object) => {
    expectTypeOf(object.metadata.name).toEqualTypeOf<string>();
    expectTypeOf(object['spec']).toEqualTypeOf<unknown>();
  },
});

// Invalid uses
// @ts-expect-error the kind is missing
defineController({ name: 'x', reconcile: () => undefined });
// @ts-expect-error a kind is a value
defineController({ name: 'x', kind: 'Pod', reconcile: () => undefined });
// @ts-expect-error reconcile returns nothing or when to requeue
defineController({ name: 'x', kind: Pod, reconcile: () => 5 });
// @ts-expect-error a mapping returns keys
watching(Secret, () => [5]);

// Stages are typed by their kind.
expectTypeOf(
  stage({
    name: 'published',
    kind: Site,
    when: (site) => site.status === undefined,
    after: { min: 1, max: 2 },
    set: ({ spec }) => ({ status: { published: spec.pages.length } }),
  }),
).toEqualTypeOf<Stage>();
stage({ name: 'x', kind: Site, set: { status: { published: 1 } } });
stage({ name: 'x', kind: Site, set: { status: null } });
// @ts-expect-error a value of the wrong type
stage({ name: 'x', kind: Site, set: { status: { published: 'many' } } });
// @ts-expect-error a condition is True, False or Unknown
stage({ name: 'x', kind: Site, when: { conditions: { Ready: 'Yes' } } });
expectTypeOf(
  stages([...crashLoop(), ...completes({ exitCode: (pod) => pod.spec.containers.length }), ...readyPods()]),
).toEqualTypeOf<Controller>();

// Elections
expectTypeOf(leaderElection({ name: 'x' })).toEqualTypeOf<LeaderElection>();
// @ts-expect-error an election requires the name of a lease
leaderElection({ identity: 'me' });

// The general context of a controller
expectTypeOf(context.informer(Pod)).toEqualTypeOf<SharedInformer<typeof Pod>>();
expectTypeOf(context.informer(Pod).get('a', 'b')?.spec.nodeName).toEqualTypeOf<string | undefined>();

// Controllers are excluded by name.
standardControllers({ without: ['endpoints-controller', 'event-ttl'] });
// @ts-expect-error the name is endpoints-controller
standardControllers({ without: ['endpoint-controller'] });
